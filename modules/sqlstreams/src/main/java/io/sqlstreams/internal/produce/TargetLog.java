package io.sqlstreams.internal.produce;

import io.sqlstreams.StreamInfo;
import io.sqlstreams.config.PayloadType;
import io.sqlstreams.internal.sql.Scope;
import io.sqlstreams.internal.sql.Statement;
import io.sqlstreams.internal.sql.Template;

/** The log of a registered stream, with the statements that write to it. Immutable. */
final class TargetLog {
  private final StreamInfo stream;
  private final Writing inTransaction;
  private final Writing inSavepoint;
  private final String copy;
  private final Statement lastDrawnId;

  private record Writing(Statement insert, Statement reserve) {
    static Writing of(Template insertion, Bounds bounds, Scope scope) {
      return new Writing(
          insertion.between(bounds.begin(), bounds.end(), scope),
          ProduceSql.RESERVE.after(bounds.begin(), scope));
    }
  }

  TargetLog(StreamInfo stream, Scope system) {
    this.stream = stream;
    Scope scope = system.stream(stream.id());
    Template insertion =
        payloadType() == PayloadType.BYTEA
            ? ProduceSql.INSERT_BYTES
            : ProduceSql.INSERT_TEXT.withPayloadType(payloadType().sqlName());
    this.inTransaction = Writing.of(insertion, Bounds.TRANSACTION, scope);
    this.inSavepoint = Writing.of(insertion, Bounds.SAVEPOINT, scope);
    this.copy = ProduceSql.COPY.in(scope).sql();
    this.lastDrawnId = ProduceSql.LAST_DRAWN_ID.in(scope);
  }

  StreamInfo stream() {
    return stream;
  }

  PayloadType payloadType() {
    return stream.config().payloadType();
  }

  /** A whole write of a few messages: begin, insert, end. */
  Statement insert(Bounds bounds) {
    return writing(bounds).insert();
  }

  /** The begin of a write of many messages: begin, lock, draw ids. */
  Statement reserve(Bounds bounds) {
    return writing(bounds).reserve();
  }

  private Writing writing(Bounds bounds) {
    return bounds == Bounds.TRANSACTION ? inTransaction : inSavepoint;
  }

  String copy() {
    return copy;
  }

  Statement lastDrawnId() {
    return lastDrawnId;
  }
}
