/** The proof that an id which isn't visible never comes, so that a cursor may pass it. */
@NullMarked
package io.sqlstreams.internal.fence;

import org.jspecify.annotations.NullMarked;
