package io.sqlstreams.lab;

import io.sqlstreams.GroupInfo;
import io.sqlstreams.internal.claim.Claimant;
import io.sqlstreams.internal.claim.Claims;
import io.sqlstreams.internal.claim.Poll;
import io.sqlstreams.internal.fence.Fence;
import io.sqlstreams.internal.log.StoredMessage;
import io.sqlstreams.internal.sql.Database;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;

/** A session of a group that polls when it is told to, exactly as a running one does. */
public final class StepReader {
  private static final int MOST = 500;

  /** It renews nothing, and nothing fresh is claimed while an expired lease is open. */
  private static final Duration LEASE = Duration.ofHours(1);

  private final Claims claims;
  private final Fence fence;
  private long looks;
  private boolean behind;

  public StepReader(TestStream stream) {
    this(stream, stream.group());
  }

  /** One of another group. */
  public StepReader(TestStream stream, GroupInfo group) {
    Database database = new Database(stream.dataSource(), stream.scope().schema());
    Claimant claimant = new Claimant(group.id(), UUID.randomUUID(), LEASE);
    this.claims = new Claims(database, stream.scope(), "the group", claimant, () -> true);
    this.fence = new Fence(database, stream.scope(), "the group", group.id());
  }

  /**
   * Claims once; at a gap tries the proof once, and then claims again if that helped. Gives the ids
   * taken.
   */
  public List<Long> poll() {
    List<Long> taken = new ArrayList<>();
    Poll poll = claim(taken);
    behind = poll.isBehind() || poll.moved();
    if (poll.atGap()) {
      looks++;
      if (fence.prove(poll.claimed())) {
        claim(taken);
      }
    }
    return taken;
  }

  /** Polls this many times; gives all ids taken. */
  public List<Long> polls(int times) {
    List<Long> taken = new ArrayList<>();
    for (int i = 0; i < times; i++) {
      taken.addAll(poll());
    }
    return taken;
  }

  /** Claims once. */
  public Poll claim(List<Long> taken) {
    Poll poll = claims.claim(MOST, Long.MAX_VALUE, true, List.of());
    if (poll.range() != null) {
      poll.range().messages().stream().map(StoredMessage::id).forEach(taken::add);
    }
    return poll;
  }

  /** Whether the last poll stopped at a gap. */
  public boolean isBehind() {
    return behind;
  }

  public Fence fence() {
    return fence;
  }

  /** How often it had to look at the writers. */
  public long looks() {
    return looks;
  }
}
