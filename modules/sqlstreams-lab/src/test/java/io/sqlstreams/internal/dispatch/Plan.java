package io.sqlstreams.internal.dispatch;

import io.sqlstreams.config.DeliveryLimits;
import io.sqlstreams.config.DeliveryLogMode;
import io.sqlstreams.config.GroupConfig;
import io.sqlstreams.config.ProduceOptions;
import io.sqlstreams.config.RetryPolicy;
import io.sqlstreams.lab.Script;
import io.sqlstreams.lab.ScriptSettings.Mode;
import io.sqlstreams.lab.Step;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/**
 * What happens in one run, all by its seed.
 *
 * @param seed the seed; its last digit decides the kind
 * @param kind what is done to the processes
 * @param groups the groups
 * @param messages the messages, in the order of their ids
 * @param actions what is done to the processes, one after the other
 * @param handlers how many messages at a time a group of a process takes
 * @param maxClaim the most messages of one claim
 * @param maxBatch the most messages of one list
 */
record Plan(
    long seed,
    Kind kind,
    List<Group> groups,
    List<Wanted> messages,
    List<Action> actions,
    int handlers,
    int maxClaim,
    int maxBatch) {
  /** What is done to the processes. */
  enum Kind {
    /** Nothing but that more of them come: every figure can be told. */
    CALM,
    /** They come and are asked to end: nothing is lost. */
    ORDERLY,
    /** Everything. */
    WILD
  }

  /** Something that is done to the processes. */
  enum Action {
    /** One more is started. */
    START,
    /** One is asked to end. */
    TERMINATE,
    /** One is killed. */
    KILL,
    /** One is frozen, or goes on, most of the time when its leases have ended. */
    FREEZE,
    /** A session of each group loses its ranges. */
    RELEASE,
    /** About half of all connections to the database end. */
    CUT
  }

  /** A group. */
  record Group(String name, Mode mode, GroupConfig config) {}

  /** A message: a script for each group, and its wishes. */
  record Wanted(List<Script> scripts, ProduceOptions options) {}

  static Plan of(long seed) {
    return new Generator(seed).plan();
  }

  /** Makes the plan; the order of its questions to chance is part of what a seed means. */
  private static final class Generator {
    private static final Duration GROUP_TIMEOUT = Duration.ofSeconds(3);
    private static final int MOST_SLOW = 4;

    private final long seed;
    private final Random random;
    private final Kind kind;
    private int slow;

    Generator(long seed) {
      this.seed = seed;
      this.random = new Random(seed);
      this.kind =
          switch ((int) Math.floorMod(seed, 10L)) {
            case 0 -> Kind.CALM;
            case 1 -> Kind.ORDERLY;
            default -> Kind.WILD;
          };
    }

    Plan plan() {
      boolean halts = kind == Kind.WILD && chance(0.3);
      Mode mode = chance(0.6) ? Mode.TRANSACTIONAL : Mode.BATCHES;
      // a list may take the longest of the times of its messages
      Duration timeout = mode == Mode.BATCHES ? millis(500) : GROUP_TIMEOUT;
      List<Group> groups =
          List.of(
              new Group("a", Mode.SINGLE, config(halts, GROUP_TIMEOUT)),
              new Group("b", mode, config(halts, timeout)));
      int messages = between(20, 60);
      int halting = halts ? random.nextInt(messages) : -1;
      int haltingGroup = random.nextInt(groups.size());
      List<Wanted> wanted = new ArrayList<>();
      for (int i = 0; i < messages; i++) {
        wanted.add(message(i == halting ? haltingGroup : -1));
      }
      return new Plan(
          seed,
          kind,
          groups,
          List.copyOf(wanted),
          actions(),
          between(1, 4),
          between(3, 25),
          between(1, 8));
    }

    private GroupConfig config(boolean halts, Duration timeout) {
      RetryPolicy retry = retry();
      DeliveryLimits limits = DeliveryLimits.defaults();
      if (chance(0.5)) {
        Duration least = millis(between(0, 30));
        Duration most = millis(between(40, 60));
        retry = retry.withInitialBackoff(Duration.ZERO).withCap(most);
        limits =
            limits
                .withBackoff(least, most)
                .withTimeout(millis(between(150, 250)), timeout)
                .withRetries(retry.maxRetries() - random.nextInt(2), retry.maxRetries() + 1)
                .withMaxDelays(retry.maxDelays() == RetryPolicy.UNLIMITED ? 2 : retry.maxDelays());
      }
      return GroupConfig.defaults()
          .withRetry(retry)
          .withTimeout(timeout)
          .withLimits(limits)
          .withMaxRangeReclaims(random.nextInt(halts ? 2 : 4))
          .withDeliveryLog(DeliveryLogMode.ALL);
    }

    private RetryPolicy retry() {
      return RetryPolicy.defaults()
          .withInitialBackoff(millis(between(0, 40)))
          .withMaxRetries(between(1, 3))
          .withBackoff(millis(between(0, 25)), 1 + 2 * random.nextDouble())
          .withCap(millis(between(50, 150)))
          .withJitter(random.nextDouble())
          .withMaxDelays(chance(0.3) ? RetryPolicy.UNLIMITED : random.nextInt(4));
    }

    private Wanted message(int haltingGroup) {
      List<Script> scripts = List.of(script(haltingGroup == 0), script(haltingGroup == 1));
      ProduceOptions options = ProduceOptions.defaults();
      boolean isSlow = scripts.stream().anyMatch(s -> s.steps().stream().anyMatch(Step::isSlow));
      if (isSlow || chance(0.1)) {
        options = options.withTimeout(millis(between(100, 300)));
      }
      if (chance(0.3)) {
        options = options.withRetry(retry());
      }
      return new Wanted(scripts, options);
    }

    private Script script(boolean halts) {
      List<Step> steps = new ArrayList<>();
      int length = chance(0.45) ? 0 : between(1, 5);
      while (steps.size() < length) {
        steps.add(step());
      }
      if (halts) {
        steps.add(random.nextInt(Math.min(2, steps.size() + 1)), Step.of(Step.Kind.HALT));
      }
      return new Script(List.copyOf(steps));
    }

    private Step step() {
      int dice = random.nextInt(100);
      if (dice < 30) {
        return Step.of(Step.Kind.FAIL);
      } else if (dice < 50) {
        return new Step(Step.Kind.DELAY, between(0, 80));
      } else if (dice < 58) {
        return new Step(Step.Kind.DEEP_DELAY, between(0, 80));
      } else if (dice < 66) {
        return Step.of(Step.Kind.DEEP_FAIL);
      } else if (dice < 70) {
        return Step.of(Step.Kind.FATAL);
      } else if (dice < 74) {
        return Step.of(Step.Kind.DEAD);
      } else if (dice < 77) {
        return Step.of(Step.Kind.DEEP_DEAD);
      } else if (dice < 84) {
        return Step.of(Step.Kind.NULL);
      } else if (dice < 91) {
        return Step.of(Step.Kind.ERROR);
      } else if (slow < MOST_SLOW) {
        slow++;
        return Step.of(chance(0.5) ? Step.Kind.SLEEP : Step.Kind.IGNORE);
      }
      return Step.of(Step.Kind.DONE);
    }

    private List<Action> actions() {
      List<Action> possible =
          switch (kind) {
            case CALM -> List.of(Action.START);
            case ORDERLY -> List.of(Action.START, Action.TERMINATE);
            case WILD -> List.of(Action.values());
          };
      List<Action> actions = new ArrayList<>();
      int number = kind == Kind.CALM ? 1 : between(2, 4);
      while (actions.size() < number) {
        actions.add(possible.get(random.nextInt(possible.size())));
      }
      return List.copyOf(actions);
    }

    private boolean chance(double probability) {
      return random.nextDouble() < probability;
    }

    private int between(int least, int most) {
      return least + random.nextInt(most - least + 1);
    }

    private static Duration millis(long millis) {
      return Duration.ofMillis(millis);
    }
  }
}
