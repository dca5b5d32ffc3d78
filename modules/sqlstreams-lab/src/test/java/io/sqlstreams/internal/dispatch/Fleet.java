package io.sqlstreams.internal.dispatch;

import io.sqlstreams.lab.Ledger;
import io.sqlstreams.lab.ScriptSettings;
import io.sqlstreams.lab.Worker;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/** The processes of one run, and what is done to them. Closing kills those that still run. */
final class Fleet implements AutoCloseable {
  private static final int MOST = 4;
  private static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(5);
  private static final long LONGEST_START_NANOS = TimeUnit.SECONDS.toNanos(5);
  private static final long LONGEST_PAUSE_NANOS = TimeUnit.SECONDS.toNanos(1);
  private static final long LONGEST_REST_NANOS = TimeUnit.MILLISECONDS.toNanos(400);

  private final ScriptSettings settings;
  private final Path directory;
  private final Random random;
  private final List<ScriptSettings> started = new ArrayList<>();
  private final List<Worker> running = new ArrayList<>();
  private final List<String> counters = new ArrayList<>();
  private final long leaseNanos;
  private @Nullable Worker frozen;
  private long frozenAt;

  Fleet(ScriptSettings settings, Path directory, Random random) {
    this.settings = settings;
    this.directory = directory;
    this.random = random;
    this.leaseNanos = TimeUnit.MILLISECONDS.toNanos(settings.leaseMillis());
  }

  /** Starts one more. */
  void start() {
    ScriptSettings own =
        settings.withLedger(directory.resolve("script-" + started.size()).toString());
    started.add(own);
    running.add(Worker.launch(own));
  }

  /** Does this to one of them, if there is one. */
  void act(Plan.Action action) {
    running.removeIf(worker -> !worker.isAlive());
    switch (action) {
      case START -> startOneMore();
      case TERMINATE -> terminateOne();
      case KILL -> killOne();
      case FREEZE -> freezeOneOrThaw();
      case RELEASE, CUT -> throw new IllegalArgumentException("isn't done to a process");
    }
    if (awake().isEmpty()) {
      start();
    }
  }

  /** Waits until they have begun so many attempts more, or seem to have nothing to do. */
  void awaitProgress(int attempts) {
    int before = attempts();
    int now = before;
    long end = System.nanoTime() + (before == 0 ? LONGEST_START_NANOS : LONGEST_PAUSE_NANOS);
    while (now < before + attempts && System.nanoTime() < end) {
      LockSupport.parkNanos(PAUSE_NANOS);
      int last = now;
      now = attempts();
      if (now > last) {
        end = System.nanoTime() + LONGEST_REST_NANOS;
      }
    }
  }

  /** The attempts of a group that began, by message and number. */
  Set<Attempted> attempted(int group) {
    Set<Attempted> attempted = new HashSet<>();
    for (ScriptSettings own : started) {
      for (Ledger.Entry entry : new Ledger(Path.of(own.ledger(group))).entries()) {
        attempted.add(new Attempted(entry.id(), entry.attempt()));
      }
    }
    return attempted;
  }

  /** An attempt that began. */
  record Attempted(long message, int attempt) {}

  /** Ends all of them, each in some way, and leaves nobody. */
  void endAll() {
    while (!running.isEmpty()) {
      running.removeIf(worker -> !worker.isAlive());
      if (!running.isEmpty()) {
        end(running.get(0));
      }
    }
  }

  private void end(Worker worker) {
    if (random.nextBoolean()) {
      kill(worker);
    } else {
      terminate(worker);
    }
  }

  /** Has all of them stop in order, and leaves nobody. */
  void finishAll() {
    thaw();
    for (Worker worker : running) {
      if (worker.isAlive()) {
        counters.add(worker.finish());
      }
    }
    running.clear();
  }

  /** Sees to it that somebody works: some messages end the process. */
  void keepOne() {
    running.removeIf(worker -> !worker.isAlive());
    if (running.isEmpty()) {
      start();
    }
  }

  /** What those that stopped in order said last. */
  List<String> counters() {
    return counters;
  }

  @Override
  public void close() {
    running.forEach(Worker::close);
  }

  private int attempts() {
    int attempts = 0;
    for (ScriptSettings own : started) {
      for (int group = 0; group < own.groups().size(); group++) {
        attempts += new Ledger(Path.of(own.ledger(group))).entries().size();
      }
    }
    return attempts;
  }

  private List<Worker> awake() {
    return running.stream().filter(worker -> worker != frozen).toList();
  }

  private void startOneMore() {
    if (running.size() < MOST) {
      start();
    }
  }

  private void terminateOne() {
    List<Worker> awake = awake();
    if (!awake.isEmpty()) {
      terminate(awake.get(random.nextInt(awake.size())));
    }
  }

  private void killOne() {
    if (!running.isEmpty()) {
      kill(running.get(random.nextInt(running.size())));
    }
  }

  private void freezeOneOrThaw() {
    List<Worker> awake = awake();
    if (frozen != null) {
      thaw();
    } else if (!awake.isEmpty()) {
      Worker worker = awake.get(random.nextInt(awake.size()));
      worker.freeze();
      frozen = worker;
      frozenAt = System.nanoTime();
    }
  }

  /** Most of the time later than its leases last. */
  private void thaw() {
    Worker worker = frozen;
    frozen = null;
    // a message may have ended it just before it was frozen
    if (worker == null || !worker.isAlive()) {
      return;
    }
    long until = frozenAt + (random.nextInt(4) == 0 ? 0 : leaseNanos + leaseNanos / 5);
    while (System.nanoTime() < until) {
      LockSupport.parkNanos(until - System.nanoTime());
    }
    worker.thaw();
  }

  private void terminate(Worker worker) {
    if (worker == frozen) {
      thaw();
    }
    String words = worker.terminate();
    if (!words.isEmpty()) {
      counters.add(words);
    }
    running.remove(worker);
  }

  private void kill(Worker worker) {
    worker.kill();
    if (worker == frozen) {
      frozen = null;
    }
    running.remove(worker);
  }
}
