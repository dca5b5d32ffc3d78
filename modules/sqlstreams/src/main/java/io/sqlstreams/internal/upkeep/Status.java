package io.sqlstreams.internal.upkeep;

import io.sqlstreams.StreamInfo;
import io.sqlstreams.StreamUpkeep;
import io.sqlstreams.error.StreamNotFoundException;
import io.sqlstreams.internal.head.Heads;
import io.sqlstreams.internal.partition.Slice;
import io.sqlstreams.internal.partition.Slices;
import io.sqlstreams.internal.sql.Call;
import io.sqlstreams.internal.sql.Database;
import io.sqlstreams.internal.sql.Instants;
import io.sqlstreams.internal.sql.Scope;
import java.sql.ResultSet;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;

/** How streams are kept up. Locks and writes nothing. Thread-safe. */
public final class Status {
  private final Database database;
  private final Scope system;
  private final Slices slices;
  private final Retention retention;

  /**
   * @param system the installation
   */
  public Status(Database database, Scope system, Heads heads) {
    this.database = database;
    this.system = system;
    this.slices = new Slices(database, system);
    this.retention = new Retention(database, system, slices, heads);
  }

  /**
   * How this stream is kept up.
   *
   * @throws StreamNotFoundException when it was destroyed meanwhile
   */
  public StreamUpkeep of(StreamInfo stream) {
    List<Slice> partitions = slices.of(List.of(stream.id())).getOrDefault(stream.id(), List.of());
    StreamUpkeep noted = noted(stream, partitions);
    Optional<Slice> lowest =
        partitions.stream().filter(slice -> slice.lastId() > noted.floor()).findFirst();
    if (lowest.isEmpty()) {
      return noted;
    }
    OptionalLong until = retention.leftMicros(stream, lowest.get());
    if (until.isEmpty()) {
      return noted;
    }
    long left = until.getAsLong();
    List<String> heldBy =
        left > 0 || stream.config().allowDropPastCommitted()
            ? List.of()
            : retention.behind(stream, retention.newestId(stream, lowest.get()));
    return new StreamUpkeep(
        noted.partitions(),
        noted.floor(),
        now().plus(left, ChronoUnit.MICROS),
        heldBy,
        noted.succeededAt(),
        noted.failingSince(),
        noted.failures(),
        noted.lastError());
  }

  private StreamUpkeep noted(StreamInfo stream, List<Slice> partitions) {
    return database.autoCommitted(
        "look at the upkeep of stream \"" + stream.name() + "\"",
        connection -> {
          try (Call call = SurveySql.STATUS.in(system).on(connection)) {
            ResultSet row = call.set("stream", stream.id()).query();
            if (!row.next()) {
              throw new StreamNotFoundException(stream.name());
            }
            return new StreamUpkeep(
                partitions.stream()
                    .map(
                        slice ->
                            new StreamUpkeep.Partition(
                                slice.firstId(), slice.lastId(), slice.isDetaching()))
                    .toList(),
                row.getLong("floor"),
                null,
                List.of(),
                Instants.orNull(row, "succeeded_at"),
                Instants.orNull(row, "failing_since"),
                row.getInt("failures"),
                row.getString("last_error"));
          }
        });
  }

  private Instant now() {
    return database.autoCommitted(
        "read the clock",
        connection -> {
          try (Call call = SurveySql.NOW.in(system).on(connection)) {
            ResultSet row = call.query();
            row.next();
            return Instants.of(row, "now");
          }
        });
  }
}
