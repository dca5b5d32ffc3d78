package io.sqlstreams;

import java.util.List;

/** How a handler ended with a list of messages: one outcome for all, or one for each. */
public sealed interface BatchOutcome {
  /** All of them are done for this group. */
  static BatchOutcome done() {
    return all(Outcome.done());
  }

  /** All of them ended alike. */
  static BatchOutcome all(Outcome outcome) {
    return new All(outcome);
  }

  /**
   * Each ended in its own way.
   *
   * @param outcomes one for each message, in the order of the messages; a list of another length is
   *     a failure of all of them
   */
  static BatchOutcome each(List<Outcome> outcomes) {
    return new Each(outcomes);
  }

  /**
   * See {@link BatchOutcome#all(Outcome)}.
   *
   * @param outcome how they ended
   */
  record All(Outcome outcome) implements BatchOutcome {}

  /**
   * See {@link BatchOutcome#each(List)}.
   *
   * @param outcomes how each ended
   */
  record Each(List<Outcome> outcomes) implements BatchOutcome {}
}
