/**
 * What keeps an installation in order while nobody looks: partitions ahead of need, retention,
 * sweeps, and the position of groups that claim nothing.
 */
@NullMarked
package io.sqlstreams.internal.upkeep;

import org.jspecify.annotations.NullMarked;
