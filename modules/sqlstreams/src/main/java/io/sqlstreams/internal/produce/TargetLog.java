package io.sqlstreams.internal.produce;

import io.sqlstreams.StreamInfo;
import io.sqlstreams.config.PayloadType;
import io.sqlstreams.internal.sql.Scope;
import io.sqlstreams.internal.sql.Statement;
import io.sqlstreams.internal.sql.Template;
import java.util.EnumMap;
import java.util.Map;
import java.util.Objects;
import java.util.function.Function;

/** The log of a registered stream, with the statements that write to it. Immutable. */
final class TargetLog {
  private final StreamInfo stream;
  private final Map<Bounds, Writing> writings = new EnumMap<>(Bounds.class);
  private final String copy;
  private final String copyCompacted;
  private final Statement takeHeads;
  private final Statement comparison;
  private final Statement comparisonAlone;
  private final Statement lastDrawnId;
  private final Statement commitStatus;
  private final Statement writtenBy;

  private record Writing(
      Statement insert,
      Statement insertCompacted,
      Statement insertKeyed,
      Statement insertKeyedCompacted,
      Statement reserve,
      Statement reserveKeyed) {
    static Writing of(Insertions insertions, Bounds bounds, Scope scope, String announcement) {
      String begin =
          bounds.isTransaction() || announcement.isEmpty()
              ? bounds.begin()
              : bounds.begin() + ";\n" + announcement;
      // keys are found by keys; not in the caller's transaction, whose settings are the caller's
      String beginKeyed = bounds.isTransaction() ? begin + ";\n" + Template.BY_KEYS : begin;
      return new Writing(
          insertions.plain().between(begin, bounds.end(), scope),
          insertions.compacted().between(begin, bounds.end(), scope),
          insertions.keyed().between(beginKeyed, bounds.end(), scope),
          insertions.keyedCompacted().between(beginKeyed, bounds.end(), scope),
          ProduceSql.RESERVE.after(begin, scope),
          KeyedSql.RESERVE.after(beginKeyed, scope));
    }
  }

  /** How a few messages are inserted, by what some of them have. */
  private record Insertions(
      Template plain, Template compacted, Template keyed, Template keyedCompacted) {
    static Insertions of(PayloadType payloadType) {
      if (payloadType == PayloadType.BYTEA) {
        return new Insertions(
            ProduceSql.INSERT_BYTES,
            CompactionSql.INSERT_BYTES,
            KeyedSql.INSERT_BYTES,
            KeyedSql.INSERT_COMPACTED_BYTES);
      }
      String type = payloadType.sqlName();
      return new Insertions(
          ProduceSql.INSERT_TEXT.withPayloadType(type),
          CompactionSql.INSERT_TEXT.withPayloadType(type),
          KeyedSql.INSERT_TEXT.withPayloadType(type),
          KeyedSql.INSERT_COMPACTED_TEXT.withPayloadType(type));
    }
  }

  /**
   * @param announcement what a write in the caller's transaction runs before; empty for none
   */
  TargetLog(StreamInfo stream, Scope system, Function<Scope, String> announcement) {
    this.stream = stream;
    Scope scope = system.stream(stream.id());
    Insertions insertions = Insertions.of(payloadType());
    for (Bounds bounds : Bounds.values()) {
      writings.put(bounds, Writing.of(insertions, bounds, scope, announcement.apply(scope)));
    }
    this.copy = ProduceSql.COPY.in(scope).sql();
    this.copyCompacted = CompactionSql.COPY.in(scope).sql();
    this.takeHeads = CompactionSql.TAKE_HEADS.in(scope);
    Template originals = KeyedSql.ORIGINALS.withPart("same", KeyedSql.same(payloadType()));
    this.comparison = originals.in(scope);
    this.comparisonAlone = originals.asTransactionByKeys(scope);
    this.lastDrawnId = ProduceSql.LAST_DRAWN_ID.in(scope);
    this.commitStatus = ProduceSql.COMMIT_STATUS.in(scope);
    this.writtenBy = ProduceSql.WRITTEN_BY.in(scope);
  }

  StreamInfo stream() {
    return stream;
  }

  PayloadType payloadType() {
    return stream.config().payloadType();
  }

  /**
   * A whole write of a few messages: begin, insert, end.
   *
   * @param compacted whether some are compacted
   */
  Statement insert(Bounds bounds, boolean compacted) {
    return compacted ? writing(bounds).insertCompacted() : writing(bounds).insert();
  }

  /** The same for messages of which some have idempotency keys. */
  Statement insertKeyed(Bounds bounds, boolean compacted) {
    return compacted ? writing(bounds).insertKeyedCompacted() : writing(bounds).insertKeyed();
  }

  /** The begin of a write of many messages: begin, lock, draw ids. */
  Statement reserve(Bounds bounds) {
    return writing(bounds).reserve();
  }

  /** The same for messages of which some have idempotency keys: ids for those that are new. */
  Statement reserveKeyed(Bounds bounds) {
    return writing(bounds).reserveKeyed();
  }

  private Writing writing(Bounds bounds) {
    return Objects.requireNonNull(writings.get(bounds));
  }

  /**
   * The copy of many messages.
   *
   * @param compacted whether some are compacted
   */
  String copy(boolean compacted) {
    return compacted ? copyCompacted : copy;
  }

  /** Takes the heads of compacted messages that were copied, within the open transaction. */
  Statement takeHeads() {
    return takeHeads;
  }

  /** Compares duplicates with their originals, within an open transaction. */
  Statement comparison() {
    return comparison;
  }

  /** The same as a transaction of its own. */
  Statement comparisonAlone() {
    return comparisonAlone;
  }

  Statement lastDrawnId() {
    return lastDrawnId;
  }

  Statement commitStatus() {
    return commitStatus;
  }

  Statement writtenBy() {
    return writtenBy;
  }
}
