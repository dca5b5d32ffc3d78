/** The heads of message keys: the newest value of each, and its lock. */
@NullMarked
package io.sqlstreams.internal.head;

import org.jspecify.annotations.NullMarked;
