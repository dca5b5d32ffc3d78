package io.sqlstreams.bench;

import io.sqlstreams.bench.load.PayloadForm;
import io.sqlstreams.bench.load.RoundSize;
import io.sqlstreams.bench.scenario.Scenario;
import io.sqlstreams.config.ConsumeOptions;
import io.sqlstreams.config.PayloadType;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * What a run does.
 *
 * @param scenarios what takes turns
 * @param size how long a round is
 * @param rounds how many rounds count, from 1
 * @param payloadBytes the size of each payload
 * @param payloadType the type of the payload column
 * @param forms how payloads are handed over
 * @param consuming how is consumed
 */
record RunOptions(
    List<Scenario> scenarios,
    RoundSize size,
    int rounds,
    int payloadBytes,
    PayloadType payloadType,
    List<PayloadForm> forms,
    ConsumeOptions consuming) {

  /** For people and files. */
  Map<String, String> told() {
    Map<String, String> told = new LinkedHashMap<>();
    told.put("rounds", Integer.toString(rounds));
    if (size.messages() != null) {
      told.put("messages", size.messages().toString());
    }
    if (size.time() != null) {
      told.put("seconds", Long.toString(size.time().toSeconds()));
    }
    told.put("payload_bytes", Integer.toString(payloadBytes));
    told.put("payload_type", payloadType.sqlName());
    told.put("handlers", Integer.toString(consuming.handlers()));
    told.put("max_claim", Integer.toString(consuming.maxClaim()));
    told.put("prefetch_messages", Integer.toString(consuming.prefetchMessages()));
    return told;
  }
}
