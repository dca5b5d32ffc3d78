package io.sqlstreams.internal.order;

import static java.util.Comparator.comparingLong;
import static org.assertj.core.api.Assertions.assertThat;

import io.sqlstreams.lab.Ledger;
import io.sqlstreams.lab.Script;
import io.sqlstreams.lab.Step;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * Everything that handlers did with the messages of keys, from all processes, and what must hold
 * for it. It knows nothing of how the library works.
 */
final class KeyHistory {
  /**
   * One attempt.
   *
   * @param end when it ended, or when its process was gone
   * @param isWhole whether it ended by itself
   */
  private record Attempt(long id, int number, long begin, long end, boolean isWhole) {}

  private final Map<Long, String> keys = new HashMap<>();
  private final Map<Long, Script> scripts = new HashMap<>();
  private final Map<String, List<Attempt>> attempts = new TreeMap<>();

  /** A message was produced. */
  void produced(long id, String key, Script script) {
    keys.put(id, key);
    scripts.put(id, script);
  }

  /**
   * What one process did.
   *
   * @param gone when it was gone, as the entries tell the time
   */
  void add(List<Ledger.Entry> entries, long gone) {
    Map<Long, Attempt> open = new HashMap<>();
    List<Attempt> all = new ArrayList<>();
    for (Ledger.Entry entry : entries) {
      boolean whole = entry.ended() != Ledger.Entry.RUNNING;
      Attempt attempt =
          new Attempt(
              entry.id(), entry.attempt(), entry.begun(), whole ? entry.ended() : gone, whole);
      if (whole) {
        open.remove(entry.begun() ^ entry.id());
        all.add(attempt);
      } else {
        open.put(entry.begun() ^ entry.id(), attempt);
      }
    }
    all.addAll(open.values());
    all.forEach(
        attempt ->
            attempts
                .computeIfAbsent(keys.get(attempt.id()), key -> new ArrayList<>())
                .add(attempt));
  }

  /** Every message has come to its end at least once. */
  void assertNothingLost() {
    Map<Long, Integer> ends = new HashMap<>();
    attempts
        .values()
        .forEach(
            of ->
                of.stream()
                    .filter(this::isFinal)
                    .forEach(a -> ends.merge(a.id(), 1, Integer::sum)));
    assertThat(keys.keySet().stream().filter(id -> !ends.containsKey(id)).toList())
        .as("messages that never came to an end")
        .isEmpty();
  }

  /** No two attempts of a key at the same time. */
  void assertNoOverlap() {
    attempts.forEach(
        (key, of) -> {
          of.sort(comparingLong(Attempt::begin));
          Attempt before = null;
          for (Attempt attempt : of) {
            assertThat(before == null || attempt.begin() >= before.end())
                .as("key %s: %s while %s%n%s", key, attempt, before, around(of, attempt))
                .isTrue();
            before = attempt;
          }
        });
  }

  /**
   * A message begins only when every earlier one of its key was at its end, and whatever is
   * repeated after a crash is repeated in order: so the last end of each is before the last end of
   * the next.
   */
  void assertOrder() {
    attempts.forEach(
        (key, of) -> {
          of.sort(comparingLong(Attempt::begin));
          List<Long> ids =
              keys.entrySet().stream()
                  .filter(entry -> entry.getValue().equals(key))
                  .map(Map.Entry::getKey)
                  .sorted()
                  .toList();
          Map<Long, Long> firstEnd = new HashMap<>();
          Map<Long, Long> lastEnd = new HashMap<>();
          for (Attempt attempt : of) {
            if (isFinal(attempt)) {
              firstEnd.putIfAbsent(attempt.id(), attempt.end());
              lastEnd.put(attempt.id(), attempt.end());
            }
          }
          for (Attempt attempt : of) {
            int place = ids.indexOf(attempt.id());
            for (long earlier : ids.subList(Math.max(0, place - 1), place)) {
              assertThat(firstEnd.getOrDefault(earlier, Long.MAX_VALUE))
                  .as(
                      "key %s: %s began before message %d had come to its end%n%s",
                      key, attempt, earlier, around(of, attempt))
                  .isLessThanOrEqualTo(attempt.begin());
            }
          }
          for (int i = 1; i < ids.size(); i++) {
            assertThat(lastEnd.get(ids.get(i - 1)))
                .as(
                    "key %s: message %d came again after message %d%n%s",
                    key, ids.get(i - 1), ids.get(i), around(of, ids.get(i)))
                .isLessThanOrEqualTo(lastEnd.get(ids.get(i)));
          }
        });
  }

  /** How many attempts came again although their message had come to its end. */
  long repeats() {
    long finals = attempts.values().stream().flatMap(List::stream).filter(this::isFinal).count();
    return finals - keys.size();
  }

  private boolean isFinal(Attempt attempt) {
    if (!attempt.isWhole()) {
      return false;
    }
    Step step = scripts.get(attempt.id()).at(attempt.number());
    return step.kind() == Step.Kind.DONE || step.kind() == Step.Kind.DEAD;
  }

  private static String around(List<Attempt> of, Attempt attempt) {
    int place = of.indexOf(attempt);
    return text(of.subList(Math.max(0, place - 12), Math.min(of.size(), place + 6)));
  }

  private static String around(List<Attempt> of, long id) {
    return text(of.stream().filter(attempt -> Math.abs(attempt.id() - id) < 2_000).toList());
  }

  private static String text(List<Attempt> of) {
    return of.stream().map(Attempt::toString).collect(Collectors.joining("\n"));
  }
}
