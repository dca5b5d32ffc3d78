package io.sqlstreams;

/**
 * What a consumption has done since it began. A result counts when the database has taken it.
 *
 * @param claimed messages taken from the log, those of reclaimed ranges included
 * @param done deliveries that ended as done
 * @param retried deliveries that failed and will be tried again
 * @param delayed deliveries that asked for a delay
 * @param dead messages given up
 * @param deferred messages that were put aside to wait for others of their key; they are delivered
 *     when their turn has come
 * @param undecodable deliveries whose payload couldn't be read; they count as retried or dead as
 *     well
 * @param timedOut deliveries that took too long; they count as retried or dead as well
 * @param reclaimed ranges and single messages taken over after their lease ended
 * @param quarantined messages that were put into the exception queue because their range was
 *     reclaimed too often
 * @param leaseLost ranges and single messages whose result came too late and was refused
 * @param abandoned handler threads that ignored the end of their time and haven't returned yet;
 *     this one can fall
 */
public record ConsumptionCounters(
    long claimed,
    long done,
    long retried,
    long delayed,
    long dead,
    long deferred,
    long undecodable,
    long timedOut,
    long reclaimed,
    long quarantined,
    long leaseLost,
    long abandoned) {}
