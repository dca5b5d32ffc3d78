package io.sqlstreams;

import io.sqlstreams.codec.PayloadCodec;
import io.sqlstreams.codec.RawPayload;
import io.sqlstreams.error.DatabaseException;
import io.sqlstreams.error.InvalidInputException;
import io.sqlstreams.error.NotInstalledException;
import io.sqlstreams.error.OutcomeUnknownException;
import java.util.List;
import javax.sql.DataSource;

/**
 * The client: the way to everything else. One for each process and installation is enough.
 * Thread-safe. It opens no connection before the first verb.
 *
 * <p>Give it a pool. A call takes a connection for as long as it works; a process that consumes
 * keeps one more all the time, for its heartbeats. So two connections are the least, and handlers
 * that use the same pool need theirs beside them.
 */
public interface SqlStreams extends AutoCloseable {
  /** The schema of an installation that doesn't say otherwise. */
  String DEFAULT_SCHEMA = "sqlstreams";

  /**
   * A builder for a client on this database.
   *
   * @param dataSource PostgreSQL 15 or above; it stays the caller's and isn't closed by the client
   */
  static SqlStreamsBuilder builder(DataSource dataSource) {
    return new SqlStreamsBuilder(dataSource);
  }

  /** The installation itself. No I/O. */
  SystemHandle system();

  /**
   * A stream with payloads of this class, as JSON by Jackson. {@link RawPayload} and {@code byte[]}
   * are taken as they are; an array is copied, so that it stays the caller's or the handler's. No
   * I/O.
   *
   * @param name the stream's name
   * @param type the payload's class; {@link io.sqlstreams.codec.SchemaVersion} on it gives its
   *     version
   * @throws InvalidInputException when the class is null, or its version is below 1
   */
  <T> StreamHandle<T> stream(String name, Class<T> type);

  /**
   * A stream with payloads by this codec. No I/O.
   *
   * @param name the stream's name
   * @param codec writes and reads the payloads
   * @throws InvalidInputException when the codec is null, or its version is below 1
   */
  <T> StreamHandle<T> stream(String name, PayloadCodec<T> codec);

  /** A stream with payloads as they are, of whatever schema version. No I/O. */
  StreamHandle<RawPayload> stream(String name);

  /**
   * Every registered stream, by name.
   *
   * @throws NotInstalledException when the schema holds no installation
   * @throws DatabaseException when the database can't be reached or refuses
   */
  List<StreamInfo> streams();

  /** The installation's background work, as far as this process does it. No I/O. */
  Manager manager();

  /**
   * Every background worker: those of the system, then those of each stream, by name. Locks and
   * writes nothing.
   *
   * @throws NotInstalledException when the schema holds no installation
   * @throws DatabaseException when the database can't be reached or refuses
   */
  List<WorkerInfo> workers();

  /** A schedule by its name. No I/O. */
  ScheduleHandle schedule(String name);

  /**
   * Every registered schedule, by name; {@link ScheduleInfo#nextTimes} tells when each runs next.
   *
   * @throws NotInstalledException when the schema holds no installation
   * @throws DatabaseException when the database can't be reached or refuses
   */
  List<ScheduleInfo> schedules();

  /**
   * Does the work in one transaction on a connection of the client's {@code DataSource}, commits
   * when it returns, rolls back when it throws. The isolation level is that of the connection.
   *
   * @return what the work returned
   * @throws E what the work threw
   * @throws OutcomeUnknownException when the connection broke while the commit was under way
   * @throws DatabaseException when the database can't be reached or refuses the commit
   */
  <R, E extends Exception> R inTransaction(TransactionWork<R, E> work) throws E;

  /**
   * Stops every consumption of this client and waits for them, then the background work, as {@link
   * Upkeep#stop} does; then writes what {@code produceAsync} has accepted and completes its
   * futures, waiting up to 30 s for each of the two, and refuses further work. Idempotent.
   */
  @Override
  void close();
}
