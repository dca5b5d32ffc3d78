package io.sqlstreams.internal.catalog;

import io.sqlstreams.StreamInfo;
import io.sqlstreams.config.StreamConfig;
import io.sqlstreams.error.ConflictingDeclarationException;
import io.sqlstreams.error.InvalidInputException;
import io.sqlstreams.error.StreamNotFoundException;
import io.sqlstreams.internal.fleet.Declarations;
import io.sqlstreams.internal.partition.Partitions;
import io.sqlstreams.internal.schema.Installer;
import io.sqlstreams.internal.sql.Call;
import io.sqlstreams.internal.sql.Database;
import io.sqlstreams.internal.sql.Scope;
import io.sqlstreams.internal.sql.SqlErrors;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Declares, renames and destroys streams. Thread-safe. */
public final class StreamRegistry {
  private static final Logger LOG = LoggerFactory.getLogger(StreamRegistry.class);

  private final Database database;
  private final Scope system;
  private final Installer installer;
  private final Partitions partitions;
  private final Catalog catalog;
  private final Declarations workers;

  /**
   * @param system the installation
   */
  public StreamRegistry(
      Database database,
      Scope system,
      Installer installer,
      Partitions partitions,
      Catalog catalog,
      Declarations workers) {
    this.database = database;
    this.system = system;
    this.installer = installer;
    this.partitions = partitions;
    this.catalog = catalog;
    this.workers = workers;
  }

  /**
   * Creates the stream, or brings it to this declaration. Takes no lock and writes nothing when it
   * is there and equal.
   *
   * @throws ConflictingDeclarationException when a setting differs that is fixed at creation
   */
  public StreamInfo register(String name, StreamConfig config) {
    Names.require(name);
    String what = "register stream \"" + name + "\"";
    Optional<StreamInfo> equal =
        database.autoCommitted(what, connection -> equal(connection, name, config));
    if (equal.isPresent()) {
      return equal.get();
    }
    Declaration declaration =
        installer.exclusively(what, connection -> declare(connection, name, config));
    declaration.log();
    return declaration.now();
  }

  /**
   * Gives the stream another name.
   *
   * @throws StreamNotFoundException when there is none
   * @throws InvalidInputException when the name is taken or breaks its rule
   */
  public StreamInfo rename(String from, String to) {
    Names.require(to);
    return installer.exclusively(
        "rename stream \"" + from + "\"",
        connection -> {
          StreamInfo stream = catalog.requireStream(connection, from);
          return from.equals(to) ? stream : rename(connection, stream, to);
        });
  }

  /** Drops the stream with all it holds; does nothing when there is none. */
  public void destroy(String name) {
    installer.dropping("destroy stream \"" + name + "\"", connection -> destroy(connection, name));
  }

  private Optional<StreamInfo> equal(Connection connection, String name, StreamConfig config)
      throws SQLException {
    if (!installer.isInstalled(connection)) {
      return Optional.empty();
    }
    Optional<StreamInfo> found = catalog.stream(connection, name);
    if (found.isEmpty()) {
      return found;
    }
    requireNoConflict(found.get(), config);
    return found.get().config().equals(config)
            && installer.isSequenceSound(connection, found.get().id())
        ? found
        : Optional.empty();
  }

  private Declaration declare(Connection connection, String name, StreamConfig config)
      throws SQLException {
    installer.install(connection);
    workers.ofSystem(connection);
    Optional<StreamInfo> found = catalog.stream(connection, name);
    if (found.isEmpty()) {
      StreamInfo created = create(connection, name, config);
      return new Declaration(created, created);
    }
    StreamInfo before = found.get();
    requireNoConflict(before, config);
    installer.repairSequence(connection, before.id());
    return new Declaration(
        before, before.config().equals(config) ? before : update(connection, before, config));
  }

  private StreamInfo create(Connection connection, String name, StreamConfig config)
      throws SQLException {
    StreamInfo stream;
    try (Call call = RegistrySql.INSERT_STREAM.in(system).on(connection)) {
      call.set("name", name)
          .set("payload_type", config.payloadType().sqlName())
          .set("partition_size", config.partitionSize())
          .set("max_payload_bytes", config.maxPayloadBytes());
      stream = one(bindSettings(call, config));
    }
    writeLog(connection, stream);
    workers.ofStream(connection, stream.id());
    try (Call call = RegistrySql.INSERT_UPKEEP.in(system).on(connection)) {
      call.set("stream_id", stream.id()).update();
    }
    installer.createFamily(connection, stream.id(), config.payloadType());
    partitions.createFirst(connection, stream.id(), config.partitionSize());
    return stream;
  }

  private StreamInfo update(Connection connection, StreamInfo stream, StreamConfig config)
      throws SQLException {
    StreamInfo updated;
    try (Call call = RegistrySql.UPDATE_STREAM.in(system).on(connection)) {
      call.set("stream_id", stream.id()).set("max_payload_bytes", config.maxPayloadBytes());
      updated = one(bindSettings(call, config));
    }
    writeLog(connection, updated);
    return updated;
  }

  private StreamInfo rename(Connection connection, StreamInfo stream, String to)
      throws SQLException {
    StreamInfo renamed;
    try (Call call = RegistrySql.RENAME_STREAM.in(system).on(connection)) {
      call.set("stream_id", stream.id()).set("name", to);
      renamed = one(call);
    } catch (SQLException e) {
      if (SqlErrors.state(e).equals(SqlErrors.UNIQUE_VIOLATION)) {
        throw new InvalidInputException(
            "name", "\"" + to + "\" is another stream's: choose a free one", e);
      }
      throw e;
    }
    writeLog(connection, renamed);
    return renamed;
  }

  private boolean destroy(Connection connection, String name) throws SQLException {
    Optional<StreamInfo> found =
        installer.isInstalled(connection) ? catalog.stream(connection, name) : Optional.empty();
    if (found.isEmpty()) {
      return false;
    }
    long id = found.get().id();
    try (Call call = RegistrySql.DELETE_STREAM_WORKERS.in(system).on(connection)) {
      call.set("stream_id", id).update();
    }
    partitions.dropDetached(connection, id);
    installer.dropFamily(connection, id);
    try (Call call = RegistrySql.DELETE_STREAM.in(system).on(connection)) {
      call.set("stream_id", id).update();
    }
    return true;
  }

  private void writeLog(Connection connection, StreamInfo stream) throws SQLException {
    try (Call call = RegistrySql.LOG_STREAM.in(system).on(connection)) {
      call.set("stream_id", stream.id()).update();
    }
  }

  private static Call bindSettings(Call call, StreamConfig config) throws SQLException {
    @Nullable Duration retention = config.retention();
    return call.set("idempotency_key_ttl_ns", config.idempotencyKeyTtl().toNanos())
        .set("tombstone_ttl_ns", config.tombstoneTtl().toNanos())
        .set("empty_head_ttl_ns", config.emptyHeadTtl().toNanos())
        .set("retention_ns", retention == null ? 0 : retention.toNanos())
        .set("allow_drop_past_committed", config.allowDropPastCommitted());
  }

  private static StreamInfo one(Call call) throws SQLException {
    try (ResultSet row = call.query()) {
      if (!row.next()) {
        throw new IllegalStateException("the stream vanished under the lock");
      }
      return Rows.stream(row);
    }
  }

  private static void requireNoConflict(StreamInfo registered, StreamConfig declared) {
    String subject = "stream \"" + registered.name() + "\"";
    StreamConfig config = registered.config();
    if (config.payloadType() != declared.payloadType()) {
      throw new ConflictingDeclarationException(
          subject,
          "payloadType",
          config.payloadType().toString(),
          declared.payloadType().toString());
    }
    if (config.partitionSize() != declared.partitionSize()) {
      throw new ConflictingDeclarationException(
          subject,
          "partitionSize",
          Long.toString(config.partitionSize()),
          Long.toString(declared.partitionSize()));
    }
  }

  private record Declaration(StreamInfo before, StreamInfo now) {
    void log() {
      log("maxPayloadBytes", before.config().maxPayloadBytes(), now.config().maxPayloadBytes());
      log(
          "idempotencyKeyTtl",
          before.config().idempotencyKeyTtl(),
          now.config().idempotencyKeyTtl());
      log("tombstoneTtl", before.config().tombstoneTtl(), now.config().tombstoneTtl());
      log("emptyHeadTtl", before.config().emptyHeadTtl(), now.config().emptyHeadTtl());
      log("retention", orNone(before.config().retention()), orNone(now.config().retention()));
      log(
          "allowDropPastCommitted",
          before.config().allowDropPastCommitted(),
          now.config().allowDropPastCommitted());
    }

    private static Object orNone(@Nullable Duration retention) {
      return retention == null ? "none" : retention;
    }

    private void log(String setting, Object was, Object is) {
      if (!was.equals(is)) {
        LOG.info("stream \"{}\": {} {} -> {}", now.name(), setting, was, is);
      }
    }
  }
}
