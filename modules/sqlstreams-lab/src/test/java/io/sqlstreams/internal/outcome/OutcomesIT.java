package io.sqlstreams.internal.outcome;

import static org.assertj.core.api.Assertions.assertThat;

import io.sqlstreams.config.Concurrency;
import io.sqlstreams.config.DeliveryLogMode;
import io.sqlstreams.config.GroupConfig;
import io.sqlstreams.internal.claim.Claimant;
import io.sqlstreams.internal.claim.ClaimedException;
import io.sqlstreams.internal.claim.Claims;
import io.sqlstreams.internal.claim.ExceptionClaims;
import io.sqlstreams.internal.sql.Database;
import io.sqlstreams.lab.Terms;
import io.sqlstreams.lab.TestStream;
import io.sqlstreams.test.SqlStreamsTest;
import io.sqlstreams.test.TestDatabase;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The state machine of a message, statement by statement: each step only under its token. */
@SqlStreamsTest
class OutcomesIT {
  TestDatabase database;
  TestStream stream;
  Policies policies;
  Judge judge;
  Outcomes outcomes;
  Claims claims;
  ExceptionClaims exceptions;

  @BeforeEach
  void register() {
    stream = TestStream.register(database);
    policies = new Policies(GroupConfig.defaults());
    judge = new Judge(policies, Set.of());
    Database sql = new Database(stream.dataSource(), database.schema());
    Claimant claimant =
        new Claimant(stream.group().id(), UUID.randomUUID(), Duration.ofSeconds(60));
    outcomes = new Outcomes(sql, stream.scope(), "g", stream.group().id(), policies);
    claims = new Claims(sql, stream.scope(), "g", claimant);
    exceptions = new ExceptionClaims(sql, stream.scope(), "g", claimant);
  }

  @Test
  void aDeferredMessageWaitsWithoutCountingAndComesAgain() {
    ClaimedException claimed = queued("inflight");
    Tries tries = new Tries(claimed.attempts(), claimed.delays(), claimed.forgiven());
    assertThat(finish(claimed, Verdict.deferred(Verdict.Event.DEFERRED, tries))).isTrue();
    assertThat(row()).as("a claim finds out whether it has to wait").isEqualTo("ready|2|1|null");
    stream.execute(
        "UPDATE {queue} SET status = 'deferred', message_key = 'k', concurrency = 'ordered'");
    assertThat(exceptions.claimDue(10, true, true)).as("it isn't its turn").isEmpty();
    assertThat(claims.claim(0, 1, true, false, Terms.none()).exceptionDueInMicros())
        .as("it doesn't wait for a time")
        .isEqualTo(Long.MAX_VALUE);
    assertThat(exceptions.wake(null)).isNull();
    assertThat(row()).isEqualTo("ready|2|1|null");
    assertThat(exceptions.claimDue(10, true, true))
        .extracting(ClaimedException::attempts)
        .containsExactly(2);
    assertThat(deliveries()).containsExactly("2|deferred|null");
  }

  @Test
  void aSupersededMessageIsOverAndHoldsNothingUp() {
    ClaimedException claimed = queued("inflight");
    Tries tries = new Tries(claimed.attempts(), claimed.delays(), claimed.forgiven());
    assertThat(finish(claimed, Verdict.superseded(tries, "a newer one is there"))).isTrue();
    assertThat(row()).isEqualTo("superseded|2|1|a newer one is there");
    assertThat(exceptions.claimDue(10, true, true)).isEmpty();
    assertThat(claims.claim(0, 1, true, false, Terms.none()).committedLags()).isTrue();
    claims.advanceCommitted();
    assertThat(stream.rows("SELECT claimed, committed FROM {cursor}")).containsExactly("1|1");
    assertThat(deliveries()).containsExactly("2|superseded|a newer one is there");
  }

  @Test
  void noStepIsTakenUnderAnotherToken() {
    ClaimedException claimed = queued("inflight");
    Tries tries = new Tries(claimed.attempts(), claimed.delays(), claimed.forgiven());
    ClaimedException stale =
        new ClaimedException(
            UUID.randomUUID(),
            claimed.messageId(),
            null,
            Concurrency.PARALLEL,
            claimed.attempts(),
            claimed.delays(),
            0,
            false,
            true,
            null,
            null);
    for (Verdict verdict :
        List.of(
            Verdict.DONE,
            Verdict.done(tries),
            Verdict.unbegun(tries),
            Verdict.deferred(null, tries),
            Verdict.superseded(tries, "x"),
            judge.failed("no", policies.ofGroup(), tries),
            judge.expired(true, policies.ofGroup(), tries))) {
      assertThat(finish(stale, verdict)).as("%s", verdict).isFalse();
    }
    assertThat(row()).isEqualTo("inflight|2|1|null");
    assertThat(deliveries()).isEmpty();
  }

  /** Found to have run out; renewed; ended. */
  @Test
  void anAttemptWhoseLeaseWasRenewedMeanwhileIsNotEnded() {
    ClaimedException claimed = queued("inflight");
    Tries tries = new Tries(claimed.attempts(), claimed.delays(), claimed.forgiven());
    Verdict expired = judge.expired(false, policies.ofGroup(), tries);
    assertThat(finish(claimed, expired)).as("it runs").isFalse();
    stream.execute("UPDATE {queue} SET lease_expires_at = now() - INTERVAL '1 second'");
    assertThat(exceptions.expired(10, List.of())).hasSize(1);
    assertThat(exceptions.expired(10, List.of(claimed.token()))).as("it is its own").isEmpty();
    assertThat(finish(claimed, expired)).isTrue();
    assertThat(stream.rows("SELECT status, attempts, suspect FROM {queue}"))
        .containsExactly("ready|2|t");
    assertThat(finish(claimed, expired)).as("once is enough").isFalse();
    assertThat(deliveries()).hasSize(1);
  }

  @Test
  void nothingIsLoggedWhenTheLogIsOff() {
    policies.set(GroupConfig.defaults().withDeliveryLog(DeliveryLogMode.OFF));
    ClaimedException claimed = queued("inflight");
    Tries tries = new Tries(claimed.attempts(), claimed.delays(), claimed.forgiven());
    assertThat(finish(claimed, judge.failed("no", policies.ofGroup(), tries))).isTrue();
    assertThat(row()).isEqualTo("ready|3|1|no");
    assertThat(deliveries()).isEmpty();
  }

  /** A message in the exception queue, claimed, with two attempts behind it. */
  private ClaimedException queued(String status) {
    stream.produce(1);
    stream.execute("UPDATE {cursor} SET claimed = 1, settled_head = 1");
    stream.execute(
        "INSERT INTO {queue} (consumer_group_id, message_id, status, concurrency, attempts, delays, can_run_after)"
            + " VALUES ("
            + stream.group().id()
            + ", 1, 'ready', 'parallel', 2, 1, now())");
    ClaimedException claimed = exceptions.claimDue(1, true, true).get(0);
    assertThat(stream.rows("SELECT status FROM {queue}")).containsExactly(status);
    return claimed;
  }

  private boolean finish(ClaimedException claimed, Verdict verdict) {
    return !outcomes
        .finishExceptions(
            List.of(
                new FinishedMessage(
                    claimed.messageId(), null, Concurrency.PARALLEL, claimed.token(), verdict)))
        .isEmpty();
  }

  private String row() {
    return stream.rows("SELECT status, attempts, delays, last_error FROM {queue}").get(0);
  }

  private List<String> deliveries() {
    return stream.rows("SELECT attempt, status, error FROM {deliveries} ORDER BY id");
  }
}
