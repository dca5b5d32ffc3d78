/** Schedules: what is registered, what is due, and the one message of each planned time. */
@NullMarked
package io.sqlstreams.internal.schedule;

import org.jspecify.annotations.NullMarked;
