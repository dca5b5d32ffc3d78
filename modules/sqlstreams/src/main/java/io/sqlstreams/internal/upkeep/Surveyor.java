package io.sqlstreams.internal.upkeep;

import io.sqlstreams.StreamInfo;
import io.sqlstreams.internal.catalog.Catalog;
import io.sqlstreams.internal.partition.Slice;
import io.sqlstreams.internal.partition.Slices;
import io.sqlstreams.internal.sql.Call;
import io.sqlstreams.internal.sql.Database;
import io.sqlstreams.internal.sql.Scope;
import io.sqlstreams.internal.sql.Statement;
import java.sql.ResultSet;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;

/** Looks at many streams at once. Thread-safe. */
final class Surveyor {
  private final Database database;
  private final Slices slices;
  private final Statement survey;

  Surveyor(Database database, Scope system, Slices slices) {
    this.database = database;
    this.slices = slices;
    this.survey = SurveySql.SURVEY.asTransaction(system);
  }

  /** How these streams stand; one that is gone isn't among them. */
  List<Survey> survey(Collection<Long> streams) {
    List<Survey> found = new ArrayList<>();
    Map<Long, List<Slice>> all = slices.of(streams);
    database.autoCommitted(
        "look at the streams",
        connection -> {
          try (Call call = survey.on(connection)) {
            // after the partitions: the ids are newer than they
            ResultSet row = call.setArray("streams", "bigint", streams.toArray()).query();
            while (row.next()) {
              StreamInfo stream = Catalog.readStream(row);
              found.add(
                  new Survey(
                      stream,
                      row.getLong("last_id"),
                      row.getLong("floor"),
                      row.getInt("failures"),
                      all.getOrDefault(stream.id(), List.of())));
            }
            return found.size();
          }
        });
    return found;
  }
}
