package io.sqlstreams.internal.outcome;

import io.sqlstreams.internal.sql.Call;
import io.sqlstreams.internal.sql.Database;
import io.sqlstreams.internal.sql.Scope;
import io.sqlstreams.internal.sql.Statement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.function.Function;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** Records results for one group. A result whose token is gone is refused. Thread-safe. */
public final class Outcomes {
  private final Database database;
  private final long group;
  private final String what;
  private final Statement finishClean;
  private final Statement finish;
  private final Statement finishExceptions;

  /**
   * @param subject the group in words, for messages
   * @param group the group's id
   */
  public Outcomes(Database database, Scope scope, String subject, long group) {
    this.database = database;
    this.group = group;
    this.what = "recording results of " + subject;
    this.finishClean = OutcomeSql.FINISH_CLEAN.asTransaction(scope);
    this.finish = OutcomeSql.FINISH.asTransaction(scope);
    this.finishExceptions = OutcomeSql.FINISH_EXCEPTIONS.asTransaction(scope);
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
    boolean clean =
        ranges.stream().allMatch(range -> range.restLow() == null && range.failures().isEmpty());
    return database.autoCommitted(
        what,
        connection -> {
          try (Call call = (clean ? finishClean : finish).on(connection)) {
            if (clean) {
              call.setArray("tokens", "uuid", tokens(ranges, range -> true));
            } else {
              bindRanges(call, ranges);
            }
            ResultSet row = call.query();
            Set<UUID> held = new HashSet<>();
            while (row.next()) {
              held.add(row.getObject("token", UUID.class));
            }
            return held;
          }
        });
  }

  /**
   * Ends attempts at messages of the exception queue in one statement.
   *
   * @return the ids that were still held
   */
  public Set<Long> finishExceptions(List<FinishedMessage> messages) {
    if (messages.isEmpty()) {
      return Set.of();
    }
    return database.autoCommitted(
        what,
        connection -> {
          try (Call call = finishExceptions.on(connection)) {
            call.set("group", group);
            bindMessages(call, messages);
            ResultSet row = call.query();
            Set<Long> held = new HashSet<>();
            while (row.next()) {
              held.add(row.getLong("message_id"));
            }
            return held;
          }
        });
  }

  private void bindRanges(Call call, List<FinishedRange> ranges) throws SQLException {
    List<FinishedRange> rests = ranges.stream().filter(range -> range.restLow() != null).toList();
    List<FinishedMessage> failures =
        ranges.stream().flatMap(range -> range.failures().stream()).toList();
    call.set("group", group)
        .setArray("tokens", "uuid", tokens(ranges, range -> range.restLow() == null))
        .setArray("rest_tokens", "uuid", tokens(rests, range -> true))
        .setArray("rest_lows", "bigint", rests.stream().map(FinishedRange::restLow).toArray())
        .setArray("message_keys", "text", column(failures, FinishedMessage::key));
    bindMessages(call, failures);
  }

  private static void bindMessages(Call call, List<FinishedMessage> messages) throws SQLException {
    call.setArray("message_ids", "bigint", column(messages, FinishedMessage::id))
        .setArray("result_tokens", "uuid", column(messages, FinishedMessage::token))
        .setArray("statuses", "text", column(messages, m -> m.verdict().status().sqlName()))
        .setArray("events", "text", column(messages, m -> name(m.verdict())))
        .setArray("attempts", "int", column(messages, m -> m.verdict().attempts()))
        .setArray("delays", "int", column(messages, m -> m.verdict().delays()))
        .setArray("waits_us", "bigint", column(messages, m -> m.verdict().waitMicros()))
        .setArray("errors", "text", column(messages, m -> m.verdict().error()));
  }

  private static @Nullable String name(Verdict verdict) {
    Verdict.Event event = verdict.event();
    return event == null ? null : event.sqlName();
  }

  private static Object[] tokens(List<FinishedRange> ranges, Predicate<FinishedRange> which) {
    return ranges.stream().filter(which).map(FinishedRange::token).toArray();
  }

  private static Object[] column(
      List<FinishedMessage> messages, Function<FinishedMessage, @Nullable Object> field) {
    return messages.stream().map(field).toArray();
  }
}
