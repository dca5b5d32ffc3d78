package io.sqlstreams.bench.scenario;

import java.time.Duration;
import java.util.Map;
import org.HdrHistogram.Histogram;

/**
 * What a round did.
 *
 * @param messages how many messages were produced
 * @param elapsed from the first produce to the end of the last message, as the scenario defines it
 * @param callMicros how long each produce call took, in microseconds
 * @param notes what else is worth telling, by name
 */
public record Work(
    long messages, Duration elapsed, Histogram callMicros, Map<String, Long> notes) {}
