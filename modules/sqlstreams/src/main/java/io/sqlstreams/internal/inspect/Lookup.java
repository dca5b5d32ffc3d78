package io.sqlstreams.internal.inspect;

import io.sqlstreams.DeliveryAttempt;
import io.sqlstreams.DeliveryEvent;
import io.sqlstreams.DeliveryState;
import io.sqlstreams.GroupDelivery;
import io.sqlstreams.MessageInfo;
import io.sqlstreams.StreamInfo;
import io.sqlstreams.codec.RawPayload;
import io.sqlstreams.error.StreamNotFoundException;
import io.sqlstreams.internal.document.MessageOptions;
import io.sqlstreams.internal.log.StoredMessage;
import io.sqlstreams.internal.sql.Call;
import io.sqlstreams.internal.sql.Database;
import io.sqlstreams.internal.sql.Instants;
import io.sqlstreams.internal.sql.Scope;
import io.sqlstreams.internal.sql.SqlErrors;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Single messages and their lot. Nothing is locked or written. Thread-safe. */
public final class Lookup {
  private final Database database;
  private final Scope system;

  /**
   * @param system the installation
   */
  public Lookup(Database database, Scope system) {
    this.database = database;
    this.system = system;
  }

  /**
   * The message with this id, and where it is in each group; empty when the log doesn't hold it.
   * One statement for the message, which never changes, and one for all that may.
   *
   * @throws StreamNotFoundException when the stream was destroyed meanwhile
   */
  public Optional<MessageInfo> find(StreamInfo stream, long id) {
    Scope scope = system.stream(stream.id());
    return database.autoCommitted(
        "looking at message " + id + " of stream \"" + stream.name() + "\"",
        connection -> {
          try {
            @Nullable StoredMessage message = message(connection, scope, id);
            return message == null
                ? Optional.empty()
                : Optional.of(describe(message, deliveries(connection, scope, id)));
          } catch (SQLException e) {
            if (SqlErrors.isUndefinedTable(e)) {
              throw new StreamNotFoundException(stream.name());
            }
            throw e;
          }
        });
  }

  private static @Nullable StoredMessage message(Connection connection, Scope scope, long id)
      throws SQLException {
    try (Call call = LookupSql.MESSAGE.asLook(scope).on(connection)) {
      ResultSet row = call.set("message_id", id).query();
      return row.next() ? StoredMessage.read(row) : null;
    }
  }

  private static List<GroupDelivery> deliveries(Connection connection, Scope scope, long id)
      throws SQLException {
    try (Call call = LookupSql.DELIVERIES.asLook(scope).on(connection)) {
      ResultSet row =
          call.set("message_id", id)
              .set("stream", scope.streamId())
              .set("most_history", GroupDelivery.MAX_HISTORY)
              .query();
      List<GroupDelivery> deliveries = new ArrayList<>();
      boolean more = row.next();
      while (more) {
        GroupDelivery group = read(row);
        List<DeliveryAttempt> history = new ArrayList<>();
        do {
          @Nullable String event = row.getString("event");
          if (event != null) {
            history.add(readAttempt(row, event));
          }
          more = row.next();
        } while (more && row.getString("name").equals(group.group()));
        deliveries.add(withHistory(group, history));
      }
      return deliveries;
    }
  }

  private static GroupDelivery read(ResultSet row) throws SQLException {
    return new GroupDelivery(
        row.getString("name"),
        DeliveryState.valueOf(constant(row.getString("state"))),
        row.getInt("attempts"),
        row.getInt("delays"),
        row.getString("last_error"),
        Instants.orNull(row, "can_run_after"),
        List.of());
  }

  private static DeliveryAttempt readAttempt(ResultSet row, String event) throws SQLException {
    return new DeliveryAttempt(
        row.getInt("attempt"),
        DeliveryEvent.valueOf(constant(event)),
        row.getString("error"),
        Instants.of(row, "attempted_at"));
  }

  private static GroupDelivery withHistory(GroupDelivery group, List<DeliveryAttempt> history) {
    return new GroupDelivery(
        group.group(),
        group.state(),
        group.attempts(),
        group.delays(),
        group.lastError(),
        group.canRunAfter(),
        history);
  }

  /** The name of an enum's constant for a word of the tables. */
  private static String constant(String word) {
    return word.toUpperCase(Locale.ROOT);
  }

  private static MessageInfo describe(StoredMessage message, List<GroupDelivery> deliveries) {
    byte @Nullable [] payload = message.payload();
    MessageOptions options =
        orElse(() -> MessageOptions.read(message.optionsJson()), MessageOptions.NONE);
    return new MessageInfo(
        message.id(),
        message.createdAt(),
        message.schemaVersion(),
        message.routingKey(),
        message.messageKey(),
        orElse(() -> Map.copyOf(message.headers()), Map.of()),
        payload == null ? null : RawPayload.of(payload),
        options.timeout(),
        options.retry(),
        options.run(),
        deliveries);
  }

  /** What producers write can be read; what was written by hand perhaps not, and is still shown. */
  private static <D> D orElse(Supplier<D> document, D unreadable) {
    try {
      return document.get();
    } catch (RuntimeException e) {
      return unreadable;
    }
  }
}
