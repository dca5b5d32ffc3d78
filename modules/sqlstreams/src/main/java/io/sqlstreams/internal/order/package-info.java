/**
 * The order among the messages of a key: what holds a key, the lock under which that is decided,
 * and who comes next. Parts of the statements that claim messages and record results.
 */
@NullMarked
package io.sqlstreams.internal.order;

import org.jspecify.annotations.NullMarked;
