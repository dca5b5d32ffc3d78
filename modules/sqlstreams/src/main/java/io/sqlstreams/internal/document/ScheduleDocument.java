package io.sqlstreams.internal.document;

import io.sqlstreams.config.Concurrency;
import io.sqlstreams.config.MissedRuns;
import io.sqlstreams.config.ProduceOptions;
import io.sqlstreams.config.RetryPolicy;
import io.sqlstreams.config.ScheduleConfig;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** What {@code schedule_config.metadata} keeps of a schedule's settings: those without a column. */
public final class ScheduleDocument {
  private ScheduleDocument() {}

  /** The document of these settings. */
  public static String write(ScheduleConfig config) {
    SparseObject document = new SparseObject();
    document.put("missed_after_ns", config.missedAfter(), ScheduleConfig.DEFAULT_MISSED_AFTER);
    ProduceOptions options = config.options();
    if (options.key() != null) {
      document.put("message_key", options.key());
    }
    if (options.routingKey() != null) {
      document.put("routing_key", options.routingKey());
    }
    if (!options.headers().isEmpty()) {
      SparseObject headers = new SparseObject();
      options.headers().forEach(headers::put);
      document.put("headers", headers);
    }
    RetryPolicy retry = options.retry();
    if (retry != null) {
      SparseObject policy = new SparseObject();
      RetryDocument.write(retry, policy);
      document.put("retry", policy);
    }
    if (options.compactionRank() != null) {
      document.put("compaction_rank", options.compactionRank());
    }
    return document.json();
  }

  /** The settings of this document and the columns beside it. */
  public static ScheduleConfig read(
      String missedRuns,
      @Nullable String concurrency,
      @Nullable Duration timeout,
      String metadata) {
    JsonNode document = SparseObject.parse(metadata);
    Map<String, String> headers = new LinkedHashMap<>();
    document
        .path("headers")
        .properties()
        .forEach(header -> headers.put(header.getKey(), header.getValue().asString()));
    return new ScheduleConfig(
        MissedRuns.valueOf(missedRuns.toUpperCase(Locale.ROOT)),
        SparseObject.duration(document, "missed_after_ns", ScheduleConfig.DEFAULT_MISSED_AFTER),
        new ProduceOptions(
            text(document, "message_key"),
            text(document, "routing_key"),
            headers,
            timeout,
            document.has("retry") ? RetryDocument.read(document.path("retry")) : null,
            null,
            concurrency == null ? null : Concurrency.valueOf(concurrency.toUpperCase(Locale.ROOT)),
            document.has("compaction_rank") ? document.path("compaction_rank").asLong() : null));
  }

  private static @Nullable String text(JsonNode document, String name) {
    return document.has(name) ? document.path(name).asString() : null;
  }
}
