package io.sqlstreams;

import io.sqlstreams.config.ExceptionFilter;
import io.sqlstreams.config.ExceptionStatus;
import io.sqlstreams.config.Page;
import io.sqlstreams.error.DatabaseException;
import io.sqlstreams.error.GroupNotFoundException;
import io.sqlstreams.error.InvalidInputException;
import io.sqlstreams.error.OutcomeUnknownException;
import io.sqlstreams.error.StreamNotFoundException;
import java.util.List;

/**
 * The messages of a group that weren't done at once: those that wait for another attempt, and the
 * dead ones. The handle itself does no I/O; each verb resolves the names when it is called, and
 * blocks until the database has answered. Thread-safe. Every verb throws {@link DatabaseException}
 * when the database can't be reached or refuses.
 */
public interface ExceptionQueue {
  /**
   * A page of the queue, in the order of the message ids. Writes nothing and locks nothing.
   *
   * @param filter which messages
   * @param page how many, and after which id; an empty list means that there are no more
   * @throws StreamNotFoundException when the stream isn't registered
   * @throws GroupNotFoundException when the group isn't registered
   */
  List<ExceptionInfo> list(ExceptionFilter filter, Page page);

  /**
   * Puts dead messages back to be handled again, due at once, in the order of their ids. Each gets
   * a fresh number of retries and delays; the numbers of its attempts go on, and its last error and
   * its rows in the delivery log stay. Messages that are ready, deferred or in flight are never
   * touched, whatever the filter. Until they are handled, the group isn't counted as past them, so
   * they are retained.
   *
   * <p>Safe when several do it at once: each dead message is redriven by one of them. It works in
   * transactions of its own of at most 1,000 messages, and each leaves a row in the operation log;
   * the claims of the group wait for the one that runs. When the thread is interrupted it stops
   * before the next one and leaves the thread interrupted. When it fails, what was committed before
   * stays.
   *
   * @param filter which messages; of those the dead ones
   * @param limit how many at most, 1 or above
   * @return how many were redriven
   * @throws InvalidInputException when the limit is below 1, or the filter's statuses don't include
   *     {@link ExceptionStatus#DEAD}; nothing was changed
   * @throws StreamNotFoundException when the stream isn't registered
   * @throws GroupNotFoundException when the group isn't registered
   * @throws OutcomeUnknownException when the connection breaks during a commit
   */
  long redrive(ExceptionFilter filter, int limit);

  /**
   * Gives messages up for good: those that are ready, deferred or dead leave the queue, and no
   * handler sees them again. Messages in flight are never touched, whatever the filter. Each leaves
   * a row in the delivery log, with the status {@code superseded} and its last error, unless the
   * group's log is off. The message stays in the stream, and a rewind of the group brings it again.
   *
   * <p>Safe when several do it at once. It works in transactions of its own of at most 1,000
   * messages, and each leaves a row in the operation log. When the thread is interrupted it stops
   * before the next one and leaves the thread interrupted. When it fails, what was committed before
   * stays.
   *
   * @param filter which messages; of those the ready, deferred and dead ones
   * @param limit how many at most, 1 or above
   * @return how many were discarded
   * @throws InvalidInputException when the limit is below 1, or the filter's statuses include
   *     neither {@link ExceptionStatus#READY} nor {@link ExceptionStatus#DEFERRED} nor {@link
   *     ExceptionStatus#DEAD}; nothing was changed
   * @throws StreamNotFoundException when the stream isn't registered
   * @throws GroupNotFoundException when the group isn't registered
   * @throws OutcomeUnknownException when the connection breaks during a commit
   */
  long discard(ExceptionFilter filter, int limit);
}
