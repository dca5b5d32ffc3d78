/** What people do to a group's deliveries by hand: moving it back, clearing its exception queue. */
@NullMarked
package io.sqlstreams.internal.operation;

import org.jspecify.annotations.NullMarked;
