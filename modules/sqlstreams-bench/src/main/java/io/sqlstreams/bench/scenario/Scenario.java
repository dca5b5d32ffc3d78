package io.sqlstreams.bench.scenario;

import io.sqlstreams.bench.load.PayloadForm;
import io.sqlstreams.bench.load.Quota;

/** One thing that can be measured. Stateless: what a round needs is in its {@link Trial}. */
public interface Scenario {
  /** The name on the command line. */
  String name();

  /** What is done, in a few words. */
  String description();

  /** How payloads are handed over. */
  PayloadForm form();

  /** How many messages make a round of a few seconds. */
  long messages();

  /** Prepares one round, with tables of its own. */
  Trial prepare(Workbench bench, Quota quota) throws Exception;

  /** Whether it is among all; one that needs minutes isn't. */
  default boolean isShort() {
    return true;
  }

  /** The name that tells it from the others of a run. */
  default String label() {
    return name() + " " + form();
  }
}
