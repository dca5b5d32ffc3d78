package io.sqlstreams.internal.dispatch;

import io.sqlstreams.config.Concurrency;
import io.sqlstreams.internal.outcome.Verdict;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The messages of each key that this session holds, one behind the other. The database keeps the
 * order between sessions, and between what is in the exception queue and what isn't; it leaves to
 * this class the ranges that this session holds at the same time. Not thread-safe: used under the
 * queue's lock.
 *
 * <p>What the database hasn't got yet has to be known here: that a message has failed and comes
 * again, so that those behind it wait. It is remembered until a claim has arrived that began after
 * the result was recorded. An earlier claim may not have seen it, and left the order to this
 * session.
 */
final class KeyLines {
  /** When a message may be begun. */
  enum Turn {
    NOW,
    LATER,
    /** After something that this session doesn't hold: it is to wait in the exception queue. */
    ELSEWHERE
  }

  /**
   * What becomes of others.
   *
   * @param next may be begun now
   * @param putAside is to wait in the exception queue
   * @param dropped isn't waited for any more
   */
  record Change(List<Delivery> next, List<Delivery> putAside, List<Delivery> dropped) {
    static final Change NONE = new Change(List.of(), List.of(), List.of());

    Change() {
      this(new ArrayList<>(), new ArrayList<>(), new ArrayList<>());
    }
  }

  private static final class Line {
    final Deque<Delivery> waiting = new ArrayDeque<>();
    int active;
    int activeInTurn;

    /** The last range with an ordered message of the key, and those that came since with others. */
    final List<Work> last = new ArrayList<>(1);

    /** The last range with a message of the key that comes again. */
    @Nullable Work unresolvedIn;

    boolean isEmpty() {
      return active == 0 && waiting.isEmpty() && last.isEmpty() && unresolvedIn == null;
    }

    boolean admits(Delivery delivery) {
      return switch (delivery.concurrency()) {
        case PARALLEL -> true;
        case EXCLUSIVE -> activeInTurn == 0;
        case ORDERED -> active == 0;
      };
    }
  }

  /** Work that this session is rid of, and how many claims had begun by then. */
  private record Gone(Work work, long claims) {}

  private final Map<String, Line> lines = new HashMap<>();
  private final Deque<Gone> gone = new ArrayDeque<>();
  private long claims;

  /** A claim is about to be sent. */
  void beginClaim() {
    claims++;
  }

  /** The last claim has arrived, with or without messages; before they are added. */
  void endClaim() {
    while (!gone.isEmpty() && gone.element().claims() < claims) {
      forget(gone.remove().work());
    }
  }

  /**
   * A message has come.
   *
   * @param hasRoom whether it may wait here
   */
  Turn enter(Delivery delivery, boolean hasRoom) {
    String key = keyOf(delivery);
    if (key == null) {
      return Turn.NOW;
    }
    Line line = lines.computeIfAbsent(key, name -> new Line());
    Turn turn = turn(line, delivery, hasRoom);
    switch (turn) {
      case NOW -> begin(line, delivery);
      case LATER -> line.waiting.add(delivery);
      case ELSEWHERE -> unresolved(line, delivery);
    }
    if (delivery.work().isRange()) {
      follow(line, delivery);
    }
    return turn;
  }

  private static void follow(Line line, Delivery delivery) {
    Work work = delivery.work();
    if (delivery.concurrency() == Concurrency.ORDERED) {
      line.last.forEach(range -> work.follow(delivery, range));
      line.last.clear();
    }
    if (!line.last.contains(work)) {
      line.last.add(work);
    }
  }

  private static Turn turn(Line line, Delivery delivery, boolean hasRoom) {
    // one of the exception queue was taken since nothing was before it, so what comes again comes
    // after it
    if (delivery.concurrency() == Concurrency.ORDERED
        && line.unresolvedIn != null
        && delivery.work().isRange()) {
      return Turn.ELSEWHERE;
    }
    boolean first = line.waiting.isEmpty() || delivery.concurrency() == Concurrency.PARALLEL;
    if (first && line.admits(delivery)) {
      return Turn.NOW;
    }
    return hasRoom ? Turn.LATER : Turn.ELSEWHERE;
  }

  /** A message that was begun has ended so. */
  Change leave(Delivery delivery, Verdict verdict) {
    String key = keyOf(delivery);
    Line line = key == null ? null : lines.get(key);
    if (line == null || !delivery.isInTurn()) {
      return Change.NONE;
    }
    Change change = new Change();
    leave(line, delivery, verdict, change);
    return change;
  }

  private void leave(Line line, Delivery delivery, Verdict verdict, Change change) {
    delivery.setInTurn(false);
    line.active--;
    if (delivery.concurrency() != Concurrency.PARALLEL) {
      line.activeInTurn--;
    }
    if (!verdict.isResolved()) {
      unresolved(line, delivery);
      putAside(line, change.putAside());
    }
    while (!line.waiting.isEmpty() && line.admits(line.waiting.element())) {
      Delivery first = line.waiting.remove();
      begin(line, first);
      change.next().add(first);
    }
    if (line.isEmpty()) {
      lines.remove(delivery.key());
    }
  }

  /** Those that would come after it can't any more. */
  private static void putAside(Line line, List<Delivery> putAside) {
    for (Iterator<Delivery> i = line.waiting.iterator(); i.hasNext(); ) {
      Delivery waiting = i.next();
      if (waiting.concurrency() == Concurrency.ORDERED) {
        i.remove();
        putAside.add(waiting);
        unresolved(line, waiting);
      }
    }
  }

  /**
   * This session is rid of this work: its results are recorded, or it was lost. Those of its
   * messages that hadn't ended leave their lines.
   */
  Change gone(Work work) {
    if (work.order() != Work.Order.SESSION) {
      return Change.NONE;
    }
    Change change = new Change();
    for (Delivery delivery : work.deliveries()) {
      Line line = delivery.key() == null ? null : lines.get(delivery.key());
      if (line != null && line.waiting.remove(delivery)) {
        change.dropped().add(delivery);
      }
    }
    for (Delivery delivery : work.deliveries()) {
      Line line = delivery.key() == null ? null : lines.get(delivery.key());
      if (line != null && delivery.isInTurn()) {
        leave(line, delivery, Verdict.unbegun(delivery.tries()), change);
      }
    }
    gone.add(new Gone(work, claims));
    return change;
  }

  private static void begin(Line line, Delivery delivery) {
    delivery.setInTurn(true);
    line.active++;
    if (delivery.concurrency() != Concurrency.PARALLEL) {
      line.activeInTurn++;
    }
  }

  private static void unresolved(Line line, Delivery delivery) {
    // of those in the exception queue the database knows
    if (delivery.work().isRange()) {
      line.unresolvedIn = delivery.work();
    }
  }

  private void forget(Work work) {
    for (Delivery delivery : work.deliveries()) {
      Line line = delivery.key() == null ? null : lines.get(delivery.key());
      if (line != null) {
        line.last.remove(work);
        line.unresolvedIn = line.unresolvedIn == work ? null : line.unresolvedIn;
        if (line.isEmpty()) {
          lines.remove(delivery.key());
        }
      }
    }
  }

  private static @Nullable String keyOf(Delivery delivery) {
    return delivery.work().order() == Work.Order.SESSION ? delivery.key() : null;
  }
}
