/** Reading messages of the log. */
@NullMarked
package io.sqlstreams.internal.log;

import org.jspecify.annotations.NullMarked;
