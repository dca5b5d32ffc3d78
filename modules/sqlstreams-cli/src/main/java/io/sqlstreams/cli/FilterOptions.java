package io.sqlstreams.cli;

import io.sqlstreams.config.ExceptionFilter;
import io.sqlstreams.config.ExceptionStatus;
import java.time.Instant;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** Which messages of an exception queue are meant: those that meet every option. */
final class FilterOptions {
  @Option(names = "--key", paramLabel = "KEY", description = "Only messages of this message key.")
  private @Nullable String key;

  @Option(
      names = "--first-id",
      paramLabel = "ID",
      defaultValue = "0",
      description = "Only message ids from this one on.")
  private long firstId;

  @Option(
      names = "--last-id",
      paramLabel = "ID",
      defaultValue = "" + Long.MAX_VALUE,
      hideParamSyntax = true,
      description = "Only message ids up to this one.")
  private long lastId;

  @Option(
      names = "--error",
      paramLabel = "TEXT",
      description = "Only messages whose last error contains this text.")
  private @Nullable String error;

  @Option(
      names = "--from",
      paramLabel = "INSTANT",
      description = "Only messages that came into the queue at 2030-01-31T08:00:00Z or later.")
  private @Nullable Instant from;

  @Option(
      names = "--before",
      paramLabel = "INSTANT",
      description = "Only messages that came into the queue before this instant.")
  private @Nullable Instant before;

  /** The filter for messages of these statuses. */
  ExceptionFilter of(ExceptionStatus... statuses) {
    return ExceptionFilter.all()
        .withStatuses(statuses)
        .withMessageKey(key)
        .withMessageIds(firstId, lastId)
        .withErrorContains(error)
        .withCreatedFrom(from)
        .withCreatedBefore(before);
  }
}
