package io.sqlstreams.internal.client;

import io.sqlstreams.ExceptionInfo;
import io.sqlstreams.ExceptionQueue;
import io.sqlstreams.config.ExceptionFilter;
import io.sqlstreams.config.Page;
import java.util.List;

/** The exception queue of a group by its names. */
record NamedExceptions(Parts parts, String stream, String group) implements ExceptionQueue {
  @Override
  public List<ExceptionInfo> list(ExceptionFilter filter, Page page) {
    return parts.onRegistered(
        stream, group, (in, of) -> parts.exceptions().list(in, of, filter, page));
  }

  @Override
  public long redrive(ExceptionFilter filter, int limit) {
    return parts.onRegistered(
        stream, group, (in, of) -> parts.exceptions().redrive(in, of, filter, limit));
  }

  @Override
  public long discard(ExceptionFilter filter, int limit) {
    return parts.onRegistered(
        stream, group, (in, of) -> parts.exceptions().discard(in, of, filter, limit));
  }
}
