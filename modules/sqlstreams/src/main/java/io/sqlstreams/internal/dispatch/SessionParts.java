package io.sqlstreams.internal.dispatch;

import io.sqlstreams.config.ConsumeOptions;
import io.sqlstreams.internal.outcome.Judge;
import io.sqlstreams.internal.outcome.Outcomes;
import io.sqlstreams.internal.outcome.Policies;
import io.sqlstreams.internal.sql.Database;

/**
 * What the parts of a session have in common.
 *
 * @param subject the group in words, for messages
 * @param wakeProducedTo wakes the consumers of this process after a handler's transaction
 */
record SessionParts(
    String subject,
    Database database,
    ConsumeOptions options,
    Policies policies,
    Judge judge,
    Outcomes outcomes,
    LocalQueue queue,
    Holdings holdings,
    Completer completer,
    Counters counters,
    Runnable wakeProducedTo) {}
