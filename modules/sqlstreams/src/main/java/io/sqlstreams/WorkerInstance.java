package io.sqlstreams;

import java.time.Instant;

/**
 * A worker as it is held by a process. Moments are the database's.
 *
 * @param since when the process took it
 * @param expiresAt until when it is the process's, unless that is renewed. A worker that failed and
 *     whose process has stopped is nobody's until then: its rest isn't over
 * @param failures how many of its turns have failed in a row; 0 when the last one went well
 */
public record WorkerInstance(Instant since, Instant expiresAt, int failures) {}
