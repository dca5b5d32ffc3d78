package io.sqlstreams.internal.dispatch;

import io.sqlstreams.BatchHandler;
import io.sqlstreams.BatchOutcome;
import io.sqlstreams.Message;
import io.sqlstreams.Outcome;
import io.sqlstreams.internal.codec.PayloadReader;
import io.sqlstreams.internal.outcome.Judge;
import io.sqlstreams.internal.outcome.Policy;
import io.sqlstreams.internal.outcome.Verdict;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Runs the handler on several messages of one claim at once. */
public final class BatchRunner<T> implements Runner {
  private final Handling<T> handling;
  private final BatchHandler<T> handler;
  private final Completer completer;
  private final int maxBatch;

  private BatchRunner(
      Handling<T> handling, BatchHandler<T> handler, Completer completer, int maxBatch) {
    this.handling = handling;
    this.handler = handler;
    this.completer = completer;
    this.maxBatch = maxBatch;
  }

  /** A handler of several messages at a time. */
  public static <T> Runner.Factory of(PayloadReader<T> reader, BatchHandler<T> handler) {
    return parts ->
        new BatchRunner<>(
            new Handling<>(reader, parts), handler, parts.completer(), parts.options().maxBatch());
  }

  /** A delivery of the batch and what holds for it. */
  private record Entry<T>(Delivery delivery, Policy policy, Message<T> message) {}

  @Override
  public int most() {
    return maxBatch;
  }

  @Override
  public boolean run(List<Delivery> deliveries, Desk desk) {
    List<Entry<T>> batch = read(deliveries);
    if (batch.isEmpty()) {
      return true;
    }
    Attempt attempt =
        desk.begin(
            batch.stream().map(Entry::delivery).toList(),
            longestTimeout(batch),
            () -> batch.forEach(this::abandon));
    List<Verdict> verdicts = handle(batch);
    if (!desk.end(attempt)) {
      return false;
    }
    for (int i = 0; i < batch.size(); i++) {
      Entry<T> entry = batch.get(i);
      Verdict verdict = verdicts.get(i);
      completer.end(
          entry.delivery(),
          attempt.wasInterrupted()
              ? handling.late(entry.delivery(), entry.policy(), verdict)
              : verdict);
    }
    return true;
  }

  /** What can't be read ends at once, and the others go on without it. */
  private List<Entry<T>> read(List<Delivery> deliveries) {
    List<Entry<T>> batch = new ArrayList<>(deliveries.size());
    for (Delivery delivery : deliveries) {
      Policy policy = handling.policy(delivery);
      try {
        batch.add(new Entry<>(delivery, policy, handling.read(delivery)));
      } catch (Handling.UnreadableException e) {
        completer.end(delivery, handling.unreadable(e, delivery, policy));
      }
    }
    return batch;
  }

  private List<Verdict> handle(List<Entry<T>> batch) {
    Judge judge = handling.judge();
    @Nullable BatchOutcome outcome;
    try {
      outcome = handler.handle(batch.stream().map(Entry::message).toList());
    } catch (Throwable e) {
      return each(batch, entry -> judge.threw(e, entry.policy(), entry.delivery().tries()));
    }
    if (outcome instanceof BatchOutcome.Each each) {
      return judgeEach(batch, each);
    }
    return each(
        batch,
        entry ->
            judge.returned(
                outcome instanceof BatchOutcome.All all ? all.outcome() : null,
                entry.policy(),
                entry.delivery().tries()));
  }

  private List<Verdict> judgeEach(List<Entry<T>> batch, BatchOutcome.Each each) {
    Judge judge = handling.judge();
    // whatever the handler has made, once and for all
    List<?> outcomes;
    try {
      outcomes = new ArrayList<>(each.outcomes());
    } catch (Throwable e) {
      return each(batch, entry -> judge.threw(e, entry.policy(), entry.delivery().tries()));
    }
    if (outcomes.size() != batch.size()) {
      String reason =
          "the handler returned "
              + outcomes.size()
              + " outcomes for "
              + batch.size()
              + " messages: return one for each, or one for all";
      return each(batch, entry -> judge.failed(reason, entry.policy(), entry.delivery().tries()));
    }
    List<Verdict> verdicts = new ArrayList<>(batch.size());
    for (int i = 0; i < batch.size(); i++) {
      Entry<T> entry = batch.get(i);
      // nothing in the handler's language may have seen to the kind of its elements
      Outcome outcome = outcomes.get(i) instanceof Outcome given ? given : null;
      verdicts.add(judge.returned(outcome, entry.policy(), entry.delivery().tries()));
    }
    return verdicts;
  }

  private List<Verdict> each(List<Entry<T>> batch, Function<Entry<T>, Verdict> verdict) {
    return batch.stream().map(verdict).toList();
  }

  private void abandon(Entry<T> entry) {
    completer.end(entry.delivery(), handling.abandoned(entry.delivery(), entry.policy()));
  }

  private Duration longestTimeout(List<Entry<T>> batch) {
    return batch.stream()
        .map(entry -> entry.policy().timeout())
        .max(Duration::compareTo)
        .orElseThrow();
  }
}
