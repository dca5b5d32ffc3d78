package io.sqlstreams.internal.lease;

import static org.assertj.core.api.Assertions.assertThat;

import io.sqlstreams.SqlStreams;
import io.sqlstreams.internal.claim.Claimant;
import io.sqlstreams.internal.claim.ClaimedRange;
import io.sqlstreams.internal.claim.Claims;
import io.sqlstreams.internal.outcome.FinishedRange;
import io.sqlstreams.internal.outcome.Outcomes;
import io.sqlstreams.internal.outcome.Policies;
import io.sqlstreams.internal.sql.Database;
import io.sqlstreams.lab.TestStream;
import io.sqlstreams.test.SqlStreamsTest;
import io.sqlstreams.test.TestDatabase;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Leases: renewed, given back, released. */
@SqlStreamsTest
class LeaseIT {
  private static final Duration LEASE = Duration.ofSeconds(60);

  TestDatabase database;
  TestStream stream;
  Database sql;
  Claims claims;
  LeaseRenewal renewal;
  UUID session;

  @BeforeEach
  void register() {
    stream = TestStream.register(database);
    sql = new Database(stream.dataSource(), database.schema());
    session = UUID.randomUUID();
    claims =
        new Claims(
            sql,
            stream.scope(),
            "g",
            new Claimant(stream.group().id(), session, LEASE),
            () -> true);
    renewal = new LeaseRenewal(stream.scope(), stream.group().id(), LEASE);
    stream.produce(10);
  }

  @Test
  void aRenewalMovesTheLowerEndUpAndNeverDown() throws SQLException {
    UUID token = claim().token();
    assertThat(renew(token, 4)).containsExactly(token);
    assertThat(renew(token, 2)).containsExactly(token);
    assertThat(stream.rows("SELECT low, high FROM {lease}")).containsExactly("4|10");
  }

  @Test
  void aHeartbeatThatIsOnItsWayDoesNotReviveWhatWasGivenBack() throws SQLException {
    UUID token = claim().token();
    Outcomes outcomes =
        new Outcomes(
            sql, stream.scope(), "g", stream.group().id(), new Policies(stream.group().config()));
    assertThat(outcomes.finish(List.of(new FinishedRange(token, 3L, List.of()))))
        .containsExactly(token);
    assertThat(renew(token, 3)).isEmpty();
    assertThat(stream.rows("SELECT low, session, expires_at <= now() FROM {lease}"))
        .containsExactly("3|null|t");
    assertThat(claims.reclaim(List.of(), 3).range()).isNotNull();
    assertThat(stream.number("SELECT reclaims FROM {lease}")).isZero();
  }

  @Test
  void b37_theLeasesOfADeadSessionCanBeListedAndReleased() throws SQLException {
    ClaimedRange range = claim();
    try (SqlStreams client = TestStream.client(database)) {
      var group = client.stream(stream.name()).group("g");
      assertThat(group.leases()).hasSize(1);
      assertThat(group.leases().get(0).session()).isEqualTo(session);
      assertThat(group.leases().get(0).high()).isEqualTo(10);
      assertThat(group.releaseLeases(UUID.randomUUID())).isZero();
      assertThat(group.releaseLeases(session)).isEqualTo(1);
    }
    assertThat(renew(range.token(), 0)).as("the old token is refused").isEmpty();
    assertThat(claims.reclaim(List.of(), 3).range()).isNotNull();
    assertThat(stream.number("SELECT reclaims FROM {lease}")).isEqualTo(1);
  }

  private ClaimedRange claim() {
    ClaimedRange range = claims.claim(10, Long.MAX_VALUE, true, List.of()).range();
    assertThat(range).isNotNull();
    return range;
  }

  private Set<UUID> renew(UUID token, long low) throws SQLException {
    try (Connection connection = stream.unpooled()) {
      return renewal.renew(connection, Map.of(token, low));
    }
  }
}
