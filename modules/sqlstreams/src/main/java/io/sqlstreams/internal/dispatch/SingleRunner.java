package io.sqlstreams.internal.dispatch;

import io.sqlstreams.MessageHandler;
import io.sqlstreams.internal.codec.PayloadReader;
import io.sqlstreams.internal.outcome.Policy;
import io.sqlstreams.internal.outcome.Verdict;
import java.util.List;

/** Runs the handler on one message at a time. */
public final class SingleRunner<T> implements Runner {
  private final Handling<T> handling;
  private final MessageHandler<T> handler;
  private final Completer completer;

  private SingleRunner(Handling<T> handling, MessageHandler<T> handler, Completer completer) {
    this.handling = handling;
    this.handler = handler;
    this.completer = completer;
  }

  /** A handler of one message at a time. */
  public static <T> Runner.Factory of(PayloadReader<T> reader, MessageHandler<T> handler) {
    return parts -> new SingleRunner<>(new Handling<>(reader, parts), handler, parts.completer());
  }

  @Override
  public int most() {
    return 1;
  }

  @Override
  public boolean run(List<Delivery> deliveries, Desk desk) {
    Delivery delivery = deliveries.get(0);
    Policy policy = handling.policy(delivery);
    Attempt attempt =
        desk.begin(
            deliveries,
            policy.timeout(),
            () -> completer.end(delivery, handling.abandoned(delivery, policy)));
    Verdict verdict = handling.handle(delivery, policy, handler);
    if (!desk.end(attempt)) {
      return false;
    }
    completer.end(
        delivery, attempt.wasInterrupted() ? handling.late(delivery, policy, verdict) : verdict);
    return true;
  }
}
