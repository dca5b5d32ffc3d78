package io.sqlstreams.internal.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.assertj.core.groups.Tuple.tuple;

import io.sqlstreams.Consumption;
import io.sqlstreams.Outcome;
import io.sqlstreams.SqlStreams;
import io.sqlstreams.Upkeep;
import io.sqlstreams.WorkerHandle;
import io.sqlstreams.WorkerInfo;
import io.sqlstreams.config.Notifications;
import io.sqlstreams.error.ClosedException;
import io.sqlstreams.error.ErrorCode;
import io.sqlstreams.error.InvalidInputException;
import io.sqlstreams.error.NotInstalledException;
import io.sqlstreams.error.StreamNotFoundException;
import io.sqlstreams.error.WorkerNotFoundException;
import io.sqlstreams.error.WorkerStateException;
import io.sqlstreams.internal.fleet.Duty;
import io.sqlstreams.internal.fleet.FleetTiming;
import io.sqlstreams.internal.fleet.Post;
import io.sqlstreams.internal.schema.Steps;
import io.sqlstreams.lab.Await;
import io.sqlstreams.lab.TestPool;
import io.sqlstreams.lab.TestStream;
import io.sqlstreams.test.SqlStreamsTest;
import io.sqlstreams.test.TestDatabase;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Background work as users meet it. */
@SqlStreamsTest
class UpkeepIT {
  private static final FleetTiming TIMING =
      new FleetTiming(
          Duration.ofMinutes(10),
          Duration.ofMinutes(5),
          Duration.ofMillis(20),
          Duration.ofMinutes(5),
          Duration.ofMinutes(5),
          Duration.ofSeconds(60),
          Duration.ofHours(24));

  TestDatabase database;
  TestStream stream;

  @BeforeEach
  void register() {
    stream = TestStream.register(database);
  }

  @Test
  void aRegistrationDeclaresTheWorkers() {
    try (SqlStreams client = TestStream.client(database)) {
      assertThat(client.system().workers())
          .extracting(WorkerInfo::name, WorkerInfo::stream, WorkerInfo::targetInstances)
          .containsExactly(
              tuple("consumer_group_janitor", null, 1),
              tuple("cursor_advancer", null, 1),
              tuple("schedule_producer", null, 1));
      assertThat(client.stream(stream.name()).workers())
          .containsExactly(
              new WorkerInfo("stream_janitor", stream.name(), 1, "{}", List.of(), null),
              new WorkerInfo("stream_vacuum", stream.name(), 0, "{}", List.of(), null));
      assertThat(client.workers())
          .containsAll(client.system().workers())
          .containsAll(client.stream(stream.name()).workers())
          .noneMatch(worker -> worker.name().equals("consumer"));
    }
  }

  @Test
  void aConsumerCarriesTheUpkeepUntilItsClientIsClosed() {
    Turns turns = new Turns("stream_janitor");
    try (SqlStreams client = client(true, turns)) {
      assertThat(turns.owners()).isEmpty();
      Consumption running =
          client.stream(stream.name()).group("g").consume(message -> Outcome.done());
      turns.await(stream);
      running.stop();
      int before = turns.number();
      Await.until("it goes on after the consumption", () -> turns.number() > before);
      assertThat(client.stream(stream.name()).janitor().status().instances()).hasSize(1);
    }
    try (SqlStreams client = TestStream.client(database)) {
      assertThat(client.stream(stream.name()).janitor().status().instances()).isEmpty();
    }
  }

  @Test
  void aConsumerCarriesNothingWhereThatIsTurnedOff() {
    Turns turns = new Turns("stream_janitor");
    try (SqlStreams client = client(false, turns)) {
      client.stream(stream.name()).group("g").consume(message -> Outcome.done());
      try (Upkeep upkeep = client.manager().run()) {
        turns.await(stream);
      }
      assertThat(client.stream(stream.name()).janitor().status().instances()).isEmpty();
    }
    try (SqlStreams client = client(false, turns)) {
      int before = turns.number();
      client.stream(stream.name()).group("g").consume(message -> Outcome.done());
      stream.produce(10);
      stream.awaitSettled();
      assertThat(turns.number()).isEqualTo(before);
    }
  }

  @Test
  void aManagerRunsWhileSomebodyWantsIt() throws InterruptedException {
    Turns turns = new Turns("stream_janitor");
    try (SqlStreams client = client(true, turns)) {
      Upkeep first = client.manager().run();
      Upkeep second = client.manager().run();
      turns.await(stream);
      first.stop();
      first.close();
      assertThat(first.awaitStopped(Duration.ZERO)).isTrue();
      assertThat(second.awaitStopped(Duration.ZERO)).isFalse();
      int before = turns.number();
      Await.until("it goes on", () -> turns.number() > before);
      second.stop();
      second.awaitStopped();
      assertThat(client.stream(stream.name()).janitor().status().instances()).isEmpty();
      Upkeep third = client.manager().run();
      int again = turns.number();
      Await.until("it runs anew", () -> turns.number() > again);
      client.close();
      assertThat(third.awaitStopped(Duration.ZERO)).isTrue();
      third.stop();
      assertThatThrownBy(() -> client.manager().run()).isInstanceOf(ClosedException.class);
    }
  }

  @Test
  void aClientThatIsClosedByAWorkerDoesNotWaitForItself() {
    AtomicReference<SqlStreams> client = new AtomicReference<>();
    Turns turns =
        new Turns("stream_janitor") {
          @Override
          public Map<Long, RuntimeException> perform(Collection<Post> posts) {
            client.get().close();
            return super.perform(posts);
          }
        };
    client.set(client(true, turns));
    Upkeep upkeep = client.get().manager().run();
    upkeep.stop();
    Await.until(
        "it is given back",
        () ->
            stream.number(
                    "SELECT count(*) FROM {schema}.worker_instance AS instance JOIN {schema}.worker_config AS worker"
                        + " ON worker.id = worker_config_id WHERE name = 'stream_janitor' AND stream_id = "
                        + stream.info().id())
                == 0);
  }

  @Test
  void aWorkerIsSuspendedAndResumed() {
    Turns turns = new Turns("stream_janitor");
    try (SqlStreams client = client(true, turns);
        Upkeep upkeep = client.manager().run()) {
      turns.await(stream);
      WorkerHandle janitor = client.stream(stream.name()).janitor();
      WorkerInfo suspended = janitor.suspend();
      assertThat(suspended.isSuspended()).isTrue();
      assertThat(suspended.heldUntil()).isNotNull();
      Await.until("nobody has it", () -> janitor.status().instances().isEmpty());
      WorkerStateException again =
          catchThrowableOfType(WorkerStateException.class, janitor::suspend);
      assertThat(again).hasMessageContainingAll("stream_janitor", stream.name(), "already");
      assertThat(again.code()).isEqualTo(ErrorCode.WORKER_STATE);
      client.stream(stream.name()).register();
      assertThat(janitor.status().isSuspended()).as("registering resumes nothing").isTrue();
      turns.forget(stream);
      assertThat(janitor.resume().targetInstances()).isEqualTo(1);
      turns.await(stream);
      assertThatThrownBy(janitor::resume)
          .isInstanceOf(WorkerStateException.class)
          .hasMessageContaining("isn't suspended");
      assertThat(trail("stream_janitor")).containsExactly("null|{}|1", "{}|{}|0", "{}|{}|1");
      assertThat(janitor.status().failures()).isZero();
    }
  }

  @Test
  void aWorkerForManyIsResumedForAsMany() {
    stream.execute(
        "UPDATE {schema}.worker_config SET target_instances = 3 WHERE name = 'stream_vacuum' AND stream_id = "
            + stream.info().id());
    stream.execute(
        "INSERT INTO {schema}.worker_config_log (worker_config_id, metadata, previous, target_instances)"
            + " SELECT id, metadata, metadata, 3 FROM {schema}.worker_config WHERE name = 'stream_vacuum' AND stream_id = "
            + stream.info().id());
    try (SqlStreams client = TestStream.client(database)) {
      WorkerHandle vacuum = client.stream(stream.name()).vacuum();
      vacuum.suspend();
      assertThat(vacuum.resume().targetInstances()).isEqualTo(3);
    }
  }

  @Test
  void whatWasDeclaredSuspendedIsResumedForOne() {
    try (SqlStreams client = TestStream.client(database)) {
      assertThat(client.stream(stream.name()).vacuum().resume().targetInstances()).isEqualTo(1);
    }
  }

  @Test
  void anUnknownWorkerIsRefusedWithTheNamesThatThereAre() {
    try (SqlStreams client = TestStream.client(database)) {
      WorkerHandle unknown = client.stream(stream.name()).worker("stream_janitr");
      for (Runnable verb : List.<Runnable>of(unknown::status, unknown::suspend, unknown::resume)) {
        WorkerNotFoundException refused =
            catchThrowableOfType(WorkerNotFoundException.class, verb::run);
        assertThat(refused)
            .hasMessageContainingAll(
                "stream_janitr", stream.name(), "stream_janitor", "stream_vacuum");
        assertThat(refused.known()).containsExactly("stream_janitor", "stream_vacuum");
      }
      assertThatThrownBy(() -> client.system().worker("stream_janitor").suspend())
          .isInstanceOf(WorkerNotFoundException.class)
          .hasMessageContainingAll("the system", "cursor_advancer");
      assertThatThrownBy(() -> client.stream(stream.name()).worker("consumer").suspend())
          .isInstanceOf(WorkerNotFoundException.class);
      assertThatThrownBy(() -> client.stream("none").janitor().suspend())
          .isInstanceOf(StreamNotFoundException.class);
      assertThatThrownBy(() -> client.system().worker("x\u0000").status())
          .isInstanceOf(InvalidInputException.class)
          .hasMessageContaining("name");
    }
  }

  @Test
  void nothingRunsWhereNothingIsInstalled() {
    try (SqlStreams client =
        SqlStreams.builder(TestPool.shared(database)).schema("not_installed").build()) {
      assertThatThrownBy(() -> client.manager().run()).isInstanceOf(NotInstalledException.class);
      assertThatThrownBy(client::workers).isInstanceOf(NotInstalledException.class);
      assertThatThrownBy(() -> client.system().worker("cursor_advancer").suspend())
          .isInstanceOf(NotInstalledException.class);
    }
  }

  @Test
  void aManagerDeclaresWhatAnEarlierVersionLeftOut() {
    stream.execute(
        "DELETE FROM {schema}.worker_config WHERE stream_id = "
            + stream.info().id()
            + " OR name = 'cursor_advancer'");
    try (SqlStreams client = TestStream.client(database);
        Upkeep upkeep = client.manager().run()) {
      assertThat(client.stream(stream.name()).workers()).hasSize(2);
      assertThat(client.system().worker("cursor_advancer").status().targetInstances()).isEqualTo(1);
      assertThat(trail("stream_janitor")).containsExactly("null|{}|1");
    }
  }

  private List<String> trail(String worker) {
    return stream.rows(
        "SELECT log.previous, log.metadata, log.target_instances FROM {schema}.worker_config_log AS log"
            + " JOIN {schema}.worker_config AS worker ON worker.id = log.worker_config_id WHERE worker.name = '"
            + worker
            + "' AND worker.stream_id = "
            + stream.info().id()
            + " ORDER BY log.id");
  }

  private SqlStreams client(boolean upkeep, Duty duty) {
    return Client.create(
        TestPool.shared(database),
        new ClientSettings(database.schema(), true, upkeep, null, Notifications.ALL),
        new Build(Steps.ofThisBuild(), ground -> List.of(duty), TIMING));
  }

  /** A duty that writes down for whom it worked. */
  private static class Turns implements Duty {
    private final String name;
    private final Set<Long> owners = ConcurrentHashMap.newKeySet();
    private final List<Integer> sizes = new CopyOnWriteArrayList<>();

    Turns(String name) {
      this.name = name;
    }

    Set<Long> owners() {
      return owners;
    }

    int number() {
      return sizes.size();
    }

    void await(TestStream stream) {
      Await.until("a turn for the stream", () -> owners.contains(stream.info().id()));
    }

    void forget(TestStream stream) {
      owners.remove(stream.info().id());
    }

    @Override
    public String name() {
      return name;
    }

    @Override
    public Duration interval() {
      return Duration.ofMillis(5);
    }

    @Override
    public Map<Long, RuntimeException> perform(Collection<Post> posts) {
      posts.forEach(post -> owners.add(post.owner()));
      sizes.add(posts.size());
      return Map.of();
    }
  }
}
