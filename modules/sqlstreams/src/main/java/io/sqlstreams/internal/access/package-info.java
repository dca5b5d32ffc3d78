/** Which role needs which privileges. */
@NullMarked
package io.sqlstreams.internal.access;

import org.jspecify.annotations.NullMarked;
