package io.sqlstreams.internal.order;

import static org.assertj.core.api.Assertions.assertThat;

import io.sqlstreams.Outgoing;
import io.sqlstreams.Produced;
import io.sqlstreams.Producer;
import io.sqlstreams.SqlStreams;
import io.sqlstreams.codec.RawPayload;
import io.sqlstreams.config.Concurrency;
import io.sqlstreams.config.GroupConfig;
import io.sqlstreams.config.ProduceOptions;
import io.sqlstreams.config.RetryPolicy;
import io.sqlstreams.config.StreamConfig;
import io.sqlstreams.lab.Await;
import io.sqlstreams.lab.Script;
import io.sqlstreams.lab.Step;
import io.sqlstreams.lab.TestStream;
import io.sqlstreams.lab.Worker;
import io.sqlstreams.lab.WorkerSettings;
import io.sqlstreams.lab.Workers;
import io.sqlstreams.test.PostgresExtension;
import io.sqlstreams.test.TestDatabase;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * The messages of a key, handled by several processes that are killed in the middle of it, against
 * a history of everything that the handlers did.
 */
@ExtendWith(PostgresExtension.class)
class KeyOrderIT {
  private static final int PROCESSES = 4;
  private static final int KEYS = 200;

  TestDatabase database;
  @TempDir Path directory;

  @ParameterizedTest
  @CsvSource({
    "ORDERED, SCRIPT, 5",
    "ORDERED, SCRIPT_BATCHES, 3",
    "ORDERED, SCRIPT_EFFECTS, 3",
    "EXCLUSIVE, SCRIPT, 3",
  })
  void messagesOfAKeyFollowEachOtherThroughCrashes(
      Concurrency concurrency, WorkerSettings.Kind kind, int kills) {
    run(concurrency, kind, 3_000, kills);
  }

  @Tag("stress")
  @ParameterizedTest
  @CsvSource({
    "ORDERED, SCRIPT, 60",
    "ORDERED, SCRIPT_BATCHES, 60",
    "ORDERED, SCRIPT_EFFECTS, 60",
    "EXCLUSIVE, SCRIPT, 60",
    "EXCLUSIVE, SCRIPT_EFFECTS, 60",
  })
  void messagesOfAKeyFollowEachOtherThroughManyCrashes(
      Concurrency concurrency, WorkerSettings.Kind kind, int kills) {
    run(concurrency, kind, 60_000, kills);
  }

  private void run(Concurrency concurrency, WorkerSettings.Kind kind, int messages, int kills) {
    long seed = Long.getLong("sqlstreams.order.seed", System.nanoTime());
    System.out.println("-Dsqlstreams.order.seed=" + seed);
    Random random = new Random(seed);
    TestStream stream =
        TestStream.register(
            database,
            StreamConfig.defaults(),
            GroupConfig.defaults()
                .withConcurrency(concurrency)
                .withRetry(
                    RetryPolicy.defaults()
                        .withMaxRetries(100)
                        .withInitialBackoff(Duration.ofMillis(20))
                        .withBackoff(Duration.ofMillis(20), 1)
                        .withMaxDelays(100)));
    stream.execute("CREATE TABLE IF NOT EXISTS {effects} (message_id BIGINT)");
    KeyHistory history = new KeyHistory();
    try (Workers workers = new Workers(database, stream, directory)) {
      WorkerSettings settings =
          workers.settings().withHandlers(4, 50, 1).withLeaseMillis(2_000).withKind(kind);
      List<Worker> running = new ArrayList<>();
      for (int i = 0; i < PROCESSES; i++) {
        running.add(workers.start(settings));
      }
      try (SqlStreams client = TestStream.client(database)) {
        produce(client.stream(stream.name()).producer(), history, messages, random);
      }
      for (int i = 0; i < kills; i++) {
        Worker victim = running.remove(random.nextInt(running.size()));
        int enough = victim.entries().size() + 1 + random.nextInt(messages / kills / PROCESSES);
        Await.until(
            "the victim has worked, or all is done",
            () -> victim.entries().size() >= enough || stream.isSettled());
        victim.kill();
        history.add(victim.entries(), System.nanoTime());
        running.add(workers.start(settings));
      }
      Await.until("everything has come to its end", stream::isSettled);
      for (Worker worker : running) {
        worker.finish();
        history.add(worker.entries(), System.nanoTime());
      }
    }
    history.assertNothingLost();
    history.assertNoOverlap();
    if (concurrency == Concurrency.ORDERED) {
      history.assertOrder();
    }
    if (kind == WorkerSettings.Kind.SCRIPT_EFFECTS) {
      assertThat(stream.number("SELECT count(*) - count(DISTINCT message_id) FROM {effects}"))
          .as("effects that are there twice")
          .isZero();
    }
  }

  /** The lower the number of a key, the more messages it has; a few fail or ask for a delay. */
  private static void produce(
      Producer<RawPayload> producer, KeyHistory history, int messages, Random random) {
    List<Outgoing<RawPayload>> batch = new ArrayList<>();
    List<String> keys = new ArrayList<>();
    List<Script> scripts = new ArrayList<>();
    for (int i = 0; i < messages; i++) {
      String key = "k" + (int) (KEYS * Math.pow(random.nextDouble(), 3));
      Script script = script(random);
      batch.add(
          Outgoing.of(RawPayload.of(Script.payload(List.of(script))), ProduceOptions.key(key)));
      keys.add(key);
      scripts.add(script);
    }
    int from = 0;
    while (from < messages) {
      int to = Math.min(messages, from + 1 + random.nextInt(100));
      List<Produced> produced = producer.produceAll(batch.subList(from, to));
      for (int i = from; i < to; i++) {
        history.produced(produced.get(i - from).id(), keys.get(i), scripts.get(i));
      }
      from = to;
    }
  }

  private static Script script(Random random) {
    List<Step> steps = new ArrayList<>();
    double kind = random.nextDouble();
    if (kind < 0.05) {
      for (int i = random.nextInt(3); i >= 0; i--) {
        steps.add(Step.of(Step.Kind.FAIL));
      }
      if (random.nextInt(5) == 0) {
        steps.add(Step.of(Step.Kind.DEAD));
      }
    } else if (kind < 0.07) {
      steps.add(new Step(Step.Kind.DELAY, random.nextInt(100)));
    }
    return new Script(steps);
  }
}
