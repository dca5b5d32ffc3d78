package io.sqlstreams.lab;

import io.sqlstreams.config.Concurrency;
import io.sqlstreams.config.DeliveryLogMode;
import io.sqlstreams.internal.claim.ClaimTerms;
import java.util.Collection;
import java.util.List;
import java.util.UUID;

/** What a session in a test says of itself when it claims. */
public final class Terms {
  private Terms() {}

  /** Of a group that knows no order, by a session that holds nothing. */
  public static ClaimTerms none() {
    return held(List.of());
  }

  /** Of a group that knows no order, by a session that holds this. */
  public static ClaimTerms held(Collection<UUID> tokens) {
    return new ClaimTerms(Concurrency.PARALLEL, null, DeliveryLogMode.FAILURES, tokens, List.of());
  }

  /** Of a group that knows no order and keeps this log, by a session that holds nothing. */
  public static ClaimTerms logging(DeliveryLogMode deliveryLog) {
    return new ClaimTerms(Concurrency.PARALLEL, null, deliveryLog, List.of(), List.of());
  }
}
