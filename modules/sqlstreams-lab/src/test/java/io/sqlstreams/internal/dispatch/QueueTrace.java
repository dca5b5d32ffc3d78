package io.sqlstreams.internal.dispatch;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** What the exception queue has held of one message in one group, against what it must hold. */
final class QueueTrace {
  private final List<QueueChange> changes;

  QueueTrace(List<QueueChange> changes) {
    this.changes = changes;
  }

  /** Whether its range was dissolved: nothing else enters the queue as a suspect. */
  boolean isQuarantined() {
    return !changes.isEmpty() && changes.get(0).suspect();
  }

  /** Every change was one that may be, and what was left behind each time is what must be. */
  void check(List<Lifecycle.Expected> expected) {
    List<QueueChange> settled = settled();
    List<QueueChange.State> states = settled.stream().map(QueueChange::state).toList();
    List<QueueChange.State> wanted = expected.stream().map(Lifecycle.Expected::state).toList();
    require(states.equals(wanted), "the queue held " + states + " where it must hold " + wanted);
    for (int i = 0; i < settled.size(); i++) {
      checkWait(settled.get(i), expected.get(i).pause());
    }
  }

  /**
   * What it held between two attempts; an attempt that wasn't begun leaves everything as it was.
   */
  private List<QueueChange> settled() {
    List<QueueChange> settled = new ArrayList<>();
    @Nullable QueueChange before = null;
    @Nullable QueueChange last = null;
    for (QueueChange change : changes) {
      require(follows(before, change), change + " after " + before);
      boolean isRest = change.status().equals("ready") || change.status().equals("dead");
      if (isRest && (last == null || !last.state().equals(change.state()))) {
        settled.add(change);
        last = change;
      }
      before = change;
    }
    require(
        before == null || before.status().equals("dead") || before.status().equals("gone"),
        "the last was " + before);
    return settled;
  }

  private static boolean follows(@Nullable QueueChange before, QueueChange change) {
    String from = before == null ? "" : before.status();
    return switch (change.status()) {
      case "ready", "dead" -> before == null || from.equals("inflight");
      case "inflight" ->
          before != null
              && from.equals("ready")
              && before.attempts() == change.attempts()
              && change.made() >= before.due();
      case "gone" -> from.equals("inflight");
      default -> false;
    };
  }

  private static void checkWait(QueueChange change, Granted.Wait wait) {
    // at once may mean the moment at which the transaction began
    boolean isSoonEnough = change.due() - change.made() <= wait.most();
    boolean isLateEnough = wait.least() == 0 || change.due() - change.begun() >= wait.least();
    require(isSoonEnough && isLateEnough, change + " doesn't wait " + wait);
  }

  private static void require(boolean holds, String what) {
    if (!holds) {
      throw new WrongHistoryException(what);
    }
  }
}
