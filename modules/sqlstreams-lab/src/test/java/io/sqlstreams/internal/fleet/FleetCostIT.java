package io.sqlstreams.internal.fleet;

import static org.assertj.core.api.Assertions.assertThat;

import io.sqlstreams.test.SqlStreamsTest;
import io.sqlstreams.test.TestDatabase;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What an idle fleet costs; the figures are in the decision. */
@Tag("stress")
@SqlStreamsTest
class FleetCostIT {
  TestDatabase database;

  @ParameterizedTest
  @ValueSource(ints = {16, 1_600, 16_000})
  void looksAndRenewals(int streams) {
    TestWorkers workers = TestWorkers.declare(database, streams);
    workers.execute(
        """
        INSERT INTO {s}.worker_config (stream_id, name, target_instances)
        SELECT stream_id, 'suspended', 0 FROM {s}.worker_config WHERE id IN ({w})
        """);
    Roster holder = workers.roster();
    Roster idle = workers.roster();
    long begun = System.nanoTime();
    List<HeldPost> held = new ArrayList<>();
    while (held.size() < streams) {
      held.addAll(workers.claim(holder));
    }
    long claimed = System.nanoTime();
    assertThat(held).hasSize(streams);
    for (int i = 0; i < 10; i++) {
      workers.look(idle, List.of());
      holder.renew(held);
    }
    System.out.printf("%d streams, milliseconds%n", streams);
    System.out.printf("  claim of all      %8.1f%n", (claimed - begun) / 1e6);
    print("look", () -> workers.look(idle, List.of()));
    print("renewal of all", () -> holder.renew(held));
    begun = System.nanoTime();
    holder.release(held);
    System.out.printf("  release of all    %8.1f%n", (System.nanoTime() - begun) / 1e6);
    System.out.println(
        workers.rows(
            "SELECT pg_size_pretty(pg_total_relation_size('{s}.worker_instance_log') / count(*)) FROM {s}.worker_instance_log"));
  }

  private static void print(String what, Runnable statement) {
    long best = Long.MAX_VALUE;
    for (int i = 0; i < 20; i++) {
      long begun = System.nanoTime();
      statement.run();
      best = Math.min(best, System.nanoTime() - begun);
    }
    System.out.printf("  %-17s %8.1f%n", what, best / 1e6);
  }
}
