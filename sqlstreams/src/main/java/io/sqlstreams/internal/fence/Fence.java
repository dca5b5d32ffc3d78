package io.sqlstreams.internal.fence;

import io.sqlstreams.internal.sql.Database;
import io.sqlstreams.internal.sql.Scope;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What one session of a group knows about the gaps in its stream. A claim passes an id only if it has seen its row, or if
 * the id is at or below {@link #settled()}, which goes into the claim as a parameter: it was proven by statements that
 * ended before the claim began. A value that is read inside the claim could be newer than the claim's snapshot, and rows
 * that the snapshot doesn't show would be passed.
 *
 * <p>Time never proves anything: a writer that stays open holds the group at its gap, and is named in a warning.
 *
 * <p>Not thread-safe: it belongs to the session's fetching thread.
 */
public final class Fence {
  /** How long a group is held back before a warning names the writers, and between two such warnings. */
  static final Duration WARN_AFTER = Duration.ofSeconds(10);

  private static final Logger log = LoggerFactory.getLogger(Fence.class);

  private final WriterLocks locks;
  private final String subject;
  private final long group;
  private long settled;
  private @Nullable Look pending;
  private boolean saved;
  private long blockedSince;
  private long warned;

  /**
   * @param subject the group in words, for warnings
   * @param group the group's id
   */
  public Fence(Database database, Scope scope, String subject, long group) {
    this.locks = new WriterLocks(database, scope);
    this.subject = subject;
    this.group = group;
  }

  /** Takes over what earlier sessions have proven or seen. */
  public void load() {
    WriterLocks.Stored stored = locks.load(group);
    settled = Math.max(settled, stored.settledHead());
    pending = stored.pending();
    saved = pending != null;
    blockedSince = System.nanoTime();
  }

  /** Every id up to this one is visible to each statement that starts from now on, or never comes. */
  public long settled() {
    return settled;
  }

  /**
   * Tries to prove that the gap at which a claim stopped is nobody's.
   *
   * @param claimed the id at which it stopped
   * @return whether {@link #settled()} has moved, so that a new claim may pass
   */
  public boolean prove(long claimed) {
    Look look = pending;
    if (look == null || look.head() <= claimed) {
      look = locks.look();
      blockedSince = System.nanoTime();
      warned = blockedSince;
      saved = false;
    } else {
      List<String> left = locks.stillWriting(look.writers());
      if (!left.isEmpty()) {
        look = new Look(look.head(), left);
        waitFor(look);
        return false;
      }
      look = new Look(look.head(), List.of());
    }
    pending = look.writers().isEmpty() ? null : look;
    if (pending == null && look.head() > settled) {
      settled = look.head();
      return true;
    }
    return false;
  }

  /** The writers outlasted a second look, so they are worth a row and, after a while, a warning. */
  private void waitFor(Look look) {
    pending = look;
    if (!saved) {
      locks.savePending(group, look);
      saved = true;
    }
    long now = System.nanoTime();
    if (now - warned > WARN_AFTER.toNanos()) {
      warned = now;
      log.warn(
          "{} has waited {} s at a gap for an open transaction that may still bring messages up to id {}: {}."
              + " It goes on when that transaction ends; nothing is skipped",
          subject,
          Duration.ofNanos(now - blockedSince).toSeconds(),
          look.head(),
          locks.describe(look.writers()));
    }
  }
}
