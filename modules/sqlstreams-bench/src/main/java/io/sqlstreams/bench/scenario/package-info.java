/** What can be measured, each kind a {@link io.sqlstreams.bench.scenario.Scenario}. */
@NullMarked
package io.sqlstreams.bench.scenario;

import org.jspecify.annotations.NullMarked;
