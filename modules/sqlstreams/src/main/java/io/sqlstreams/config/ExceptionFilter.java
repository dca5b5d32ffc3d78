package io.sqlstreams.config;

import io.sqlstreams.error.InvalidInputException;
import java.time.Instant;
import java.util.Collection;
import java.util.Collections;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Which messages of an exception queue are meant: those that meet every condition. Immutable.
 *
 * @param statuses the statuses, at least one; defaults to all of them
 * @param messageKey the message key; null for any, which is the default
 * @param firstId the lowest message id, 0 or above; defaults to 0
 * @param lastId the highest message id, at least {@code firstId}; defaults to {@link
 *     Long#MAX_VALUE}
 * @param errorContains a text that the last error contains, upper and lower case as they are; null
 *     for any error or none, which is the default
 * @param createdFrom when the message came into the queue, this instant or later, by the database's
 *     clock; null for any, which is the default
 * @param createdBefore when the message came into the queue, before this instant, by the database's
 *     clock; null for any, which is the default
 */
public record ExceptionFilter(
    Set<ExceptionStatus> statuses,
    @Nullable String messageKey,
    long firstId,
    long lastId,
    @Nullable String errorContains,
    @Nullable Instant createdFrom,
    @Nullable Instant createdBefore) {
  private static final ExceptionFilter ALL =
      new ExceptionFilter(
          EnumSet.allOf(ExceptionStatus.class), null, 0, Long.MAX_VALUE, null, null, null);

  /**
   * @throws InvalidInputException when a value is outside its range, a text holds U+0000, or two
   *     values leave no message between them
   */
  public ExceptionFilter {
    statuses = ordered(statuses);
    Numbers.requireNotNegative("firstId", firstId);
    if (lastId < firstId) {
      throw new InvalidInputException(
          "lastId", lastId + " is below firstId, " + firstId + ": raise it or lower that");
    }
    requireStorable("messageKey", messageKey);
    requireStorable("errorContains", errorContains);
    if (createdFrom != null && createdBefore != null && !createdFrom.isBefore(createdBefore)) {
      throw new InvalidInputException(
          "createdBefore",
          createdBefore + " isn't after createdFrom, " + createdFrom + ": raise it or lower that");
    }
  }

  /** Every message of the queue. */
  public static ExceptionFilter all() {
    return ALL;
  }

  /** The messages that were given up. */
  public static ExceptionFilter dead() {
    return all().withStatuses(ExceptionStatus.DEAD);
  }

  /**
   * This filter for messages of these statuses alone.
   *
   * @throws InvalidInputException when there is none
   */
  public ExceptionFilter withStatuses(ExceptionStatus... statuses) {
    return new ExceptionFilter(
        ordered(List.of(statuses)),
        messageKey,
        firstId,
        lastId,
        errorContains,
        createdFrom,
        createdBefore);
  }

  /**
   * This filter for messages of one key.
   *
   * @param messageKey the key; null for any
   * @throws InvalidInputException when it holds U+0000
   */
  public ExceptionFilter withMessageKey(@Nullable String messageKey) {
    return new ExceptionFilter(
        statuses, messageKey, firstId, lastId, errorContains, createdFrom, createdBefore);
  }

  /**
   * This filter for messages of these ids, both included.
   *
   * @throws InvalidInputException when the first is negative or above the last
   */
  public ExceptionFilter withMessageIds(long firstId, long lastId) {
    return new ExceptionFilter(
        statuses, messageKey, firstId, lastId, errorContains, createdFrom, createdBefore);
  }

  /**
   * This filter for messages whose last error contains a text.
   *
   * @param errorContains the text; null for any error or none
   * @throws InvalidInputException when it holds U+0000
   */
  public ExceptionFilter withErrorContains(@Nullable String errorContains) {
    return new ExceptionFilter(
        statuses, messageKey, firstId, lastId, errorContains, createdFrom, createdBefore);
  }

  /**
   * This filter for messages that came into the queue at this instant or later.
   *
   * @param createdFrom the instant; null for any
   * @throws InvalidInputException when it isn't before {@code createdBefore}
   */
  public ExceptionFilter withCreatedFrom(@Nullable Instant createdFrom) {
    return new ExceptionFilter(
        statuses, messageKey, firstId, lastId, errorContains, createdFrom, createdBefore);
  }

  /**
   * This filter for messages that came into the queue before this instant.
   *
   * @param createdBefore the instant; null for any
   * @throws InvalidInputException when it isn't after {@code createdFrom}
   */
  public ExceptionFilter withCreatedBefore(@Nullable Instant createdBefore) {
    return new ExceptionFilter(
        statuses, messageKey, firstId, lastId, errorContains, createdFrom, createdBefore);
  }

  /** A copy in the enum's order, which is also how it is printed. */
  private static Set<ExceptionStatus> ordered(Collection<ExceptionStatus> statuses) {
    if (statuses.isEmpty()) {
      throw new InvalidInputException("statuses", "must hold at least one, or leave them all");
    }
    return Collections.unmodifiableSet(EnumSet.copyOf(statuses));
  }

  private static void requireStorable(String field, @Nullable String text) {
    if (text != null && text.indexOf('\0') >= 0) {
      throw new InvalidInputException(field, "holds U+0000, which no stored text does");
    }
  }
}
