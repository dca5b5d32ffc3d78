package io.sqlstreams.internal.outcome;

import io.sqlstreams.config.Concurrency;
import io.sqlstreams.config.DeliveryLogMode;
import io.sqlstreams.internal.order.KeySql;
import io.sqlstreams.internal.sql.Call;
import io.sqlstreams.internal.sql.Database;
import io.sqlstreams.internal.sql.Scope;
import io.sqlstreams.internal.sql.Statement;
import io.sqlstreams.internal.sql.Template;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Comparator;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.function.Function;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** Records results for one group. A result whose token is gone is refused. Thread-safe. */
public final class Outcomes {
  /** The transaction is about to end, so the setting disturbs nobody. */
  private static final String LOCK_BY_KEYS = Template.BY_KEYS + ";\n" + KeySql.LOCK;

  private final Database database;
  private final long group;
  private final Policies policies;
  private final String what;
  private final Statement finishClean;
  private final Statement finish;
  private final Statement finishExceptions;
  private final Statement finishFreeing;
  private final Statement finishExceptionsFreeing;
  private final Statement finishInTransaction;
  private final Statement finishExceptionsInTransaction;
  private final Statement finishFreeingInTransaction;
  private final Statement finishExceptionsFreeingInTransaction;
  private final Statement isHeld;

  /**
   * @param subject the group in words, for messages
   * @param group the group's id
   */
  public Outcomes(Database database, Scope scope, String subject, long group, Policies policies) {
    this.database = database;
    this.group = group;
    this.policies = policies;
    this.what = "recording results of " + subject;
    this.finishClean = OutcomeSql.FINISH_CLEAN.asTransaction(scope);
    this.finish = OutcomeSql.FINISH.asTransaction(scope);
    this.finishExceptions = OutcomeSql.FINISH_EXCEPTIONS.asTransaction(scope);
    this.finishFreeing = OutcomeSql.FINISH.behind(KeySql.LOCK).asTransactionByKeys(scope);
    this.finishExceptionsFreeing =
        OutcomeSql.FINISH_EXCEPTIONS.behind(KeySql.LOCK).asTransactionByKeys(scope);
    this.finishFreeingInTransaction = OutcomeSql.FINISH.behind(LOCK_BY_KEYS).in(scope);
    this.finishExceptionsFreeingInTransaction =
        OutcomeSql.FINISH_EXCEPTIONS.behind(LOCK_BY_KEYS).in(scope);
    this.finishInTransaction = OutcomeSql.FINISH.in(scope);
    this.finishExceptionsInTransaction = OutcomeSql.FINISH_EXCEPTIONS.in(scope);
    this.isHeld = OutcomeSql.IS_HELD.asTransaction(scope);
  }

  /**
   * Ends ranges, or gives back what wasn't begun of them, in one statement.
   *
   * @return the tokens that were still held
   */
  public Set<UUID> finish(List<FinishedRange> ranges) {
    if (ranges.isEmpty()) {
      return Set.of();
    }
    boolean frees = ranges.stream().anyMatch(range -> !range.freedKeys().isEmpty());
    boolean clean =
        !frees
            && ranges.stream()
                .allMatch(range -> range.restLow() == null && range.results().isEmpty());
    return database.autoCommitted(
        what,
        connection -> {
          try (Call call = (clean ? finishClean : frees ? finishFreeing : finish).on(connection)) {
            if (clean) {
              call.setArray("tokens", "uuid", tokens(ranges, range -> true));
            } else {
              bindRanges(call, ranges, false);
            }
            return tokens(call.query());
          }
        });
  }

  /**
   * Ends a range, or the beginning of it, in the transaction of this connection; the rest stays
   * held.
   *
   * @return whether it was still held; if not, the transaction must be rolled back
   */
  public boolean finish(Connection connection, FinishedRange range) throws SQLException {
    boolean frees = !range.freedKeys().isEmpty();
    try (Call call = (frees ? finishFreeingInTransaction : finishInTransaction).on(connection)) {
      bindRanges(call, List.of(range), true);
      return !tokens(call.query()).isEmpty();
    }
  }

  /**
   * Ends attempts at messages of the exception queue in one statement.
   *
   * @return the ids that were still held
   */
  public Set<Long> finishExceptions(List<FinishedMessage> ended) {
    if (ended.isEmpty()) {
      return Set.of();
    }
    List<FinishedMessage> messages = inOrder(ended);
    Set<String> freed = freedKeys(messages);
    return database.autoCommitted(
        what,
        connection -> {
          try (Call call =
              (freed.isEmpty() ? finishExceptions : finishExceptionsFreeing).on(connection)) {
            return finishExceptions(call, messages, freed);
          }
        });
  }

  /**
   * Ends an attempt at a message of the exception queue in the transaction of this connection.
   *
   * @return whether it was still held; if not, the transaction must be rolled back
   */
  public boolean finishException(Connection connection, FinishedMessage message)
      throws SQLException {
    List<FinishedMessage> messages = List.of(message);
    Set<String> freed = freedKeys(messages);
    try (Call call =
        (freed.isEmpty() ? finishExceptionsInTransaction : finishExceptionsFreeingInTransaction)
            .on(connection)) {
      return !finishExceptions(call, messages, freed).isEmpty();
    }
  }

  /**
   * Whether results up to this message are still to be recorded under this token.
   *
   * @param lastId the last of them
   */
  public boolean isHeld(UUID token, long lastId) {
    return database.autoCommitted(
        what,
        connection -> {
          try (Call call = isHeld.on(connection)) {
            ResultSet row =
                call.set("token", token).set("last_id", lastId).set("group", group).query();
            row.next();
            return row.getBoolean("is_held");
          }
        });
  }

  private static List<FinishedMessage> inOrder(List<FinishedMessage> ended) {
    FirstOfKeys first = new FirstOfKeys();
    return ended.stream()
        .sorted(Comparator.comparingLong(FinishedMessage::id))
        .map(
            message ->
                message.with(
                    first.recorded(message.key(), message.concurrency(), message.verdict())))
        .toList();
  }

  /** The keys whose next message may come; only where messages wait for others at all. */
  private Set<String> freedKeys(List<FinishedMessage> messages) {
    FreedKeys freed = new FreedKeys();
    boolean keepsOrder = policies.keepsOrder();
    messages.stream()
        .filter(message -> keepsOrder || message.concurrency() != Concurrency.PARALLEL)
        .sorted(Comparator.comparingLong(FinishedMessage::id))
        .forEach(message -> freed.add(message.key(), message.concurrency(), message.verdict()));
    return freed.keys();
  }

  private Set<Long> finishExceptions(
      Call call, List<FinishedMessage> messages, Set<String> freedKeys) throws SQLException {
    bindMessages(call, messages, freedKeys);
    call.setArray("lines", "text", column(messages, Outcomes::line));
    ResultSet row = call.query();
    Set<Long> held = new HashSet<>();
    while (row.next()) {
      held.add(row.getLong("message_id"));
    }
    return held;
  }

  /** What follows each other ends in turn: null for what doesn't. */
  private static @Nullable Object line(FinishedMessage message) {
    return message.concurrency() == Concurrency.ORDERED ? message.key() : null;
  }

  private void bindRanges(Call call, List<FinishedRange> ranges, boolean keepRest)
      throws SQLException {
    List<FinishedRange> rests = ranges.stream().filter(range -> range.restLow() != null).toList();
    List<FinishedMessage> results =
        ranges.stream().flatMap(range -> range.results().stream()).toList();
    call.setArray("tokens", "uuid", tokens(ranges, range -> range.restLow() == null))
        .setArray("rest_tokens", "uuid", tokens(rests, range -> true))
        .setArray("rest_lows", "bigint", rests.stream().map(FinishedRange::restLow).toArray())
        .set("keep_rest", keepRest)
        .setArray("message_keys", "text", column(results, FinishedMessage::key))
        .setArray("concurrencies", "text", column(results, m -> m.concurrency().sqlName()));
    Set<String> freed = new LinkedHashSet<>();
    ranges.forEach(range -> freed.addAll(range.freedKeys()));
    bindMessages(call, results, freed);
  }

  private void bindMessages(Call call, List<FinishedMessage> messages, Set<String> freedKeys)
      throws SQLException {
    call.set("group", group)
        .set("logs", policies.group().deliveryLog() != DeliveryLogMode.OFF)
        .setArray("message_ids", "bigint", column(messages, FinishedMessage::id))
        .setArray("result_tokens", "uuid", column(messages, FinishedMessage::token))
        .setArray("statuses", "text", column(messages, m -> m.verdict().status().sqlName()))
        .setArray("events", "text", column(messages, m -> name(m.verdict())))
        .setArray("attempt_numbers", "int", column(messages, m -> m.verdict().attempt()))
        .setArray("attempts", "int", column(messages, m -> m.verdict().attempts()))
        .setArray("delays", "int", column(messages, m -> m.verdict().delays()))
        .setArray("waits_us", "bigint", column(messages, m -> m.verdict().waitMicros()))
        .setArray("freed_keys", "text", freedKeys.toArray())
        .setArray("errors", "text", column(messages, m -> m.verdict().error()));
  }

  private static @Nullable String name(Verdict verdict) {
    Verdict.Event event = verdict.event();
    return event == null ? null : event.sqlName();
  }

  private static Set<UUID> tokens(ResultSet row) throws SQLException {
    Set<UUID> held = new HashSet<>();
    while (row.next()) {
      held.add(row.getObject("token", UUID.class));
    }
    return held;
  }

  private static Object[] tokens(List<FinishedRange> ranges, Predicate<FinishedRange> which) {
    return ranges.stream().filter(which).map(FinishedRange::token).toArray();
  }

  private static Object[] column(
      List<FinishedMessage> messages, Function<FinishedMessage, @Nullable Object> field) {
    return messages.stream().map(field).toArray();
  }
}
