package io.sqlstreams.internal.schedule;

import io.sqlstreams.Produced;
import io.sqlstreams.ScheduleInfo;
import io.sqlstreams.ScheduledRun;
import io.sqlstreams.StreamInfo;
import io.sqlstreams.config.Cron;
import io.sqlstreams.config.ScheduleConfig;
import io.sqlstreams.error.InvalidInputException;
import io.sqlstreams.error.NotInstalledException;
import io.sqlstreams.error.ScheduleNotFoundException;
import io.sqlstreams.error.StreamNotFoundException;
import io.sqlstreams.internal.catalog.Catalog;
import io.sqlstreams.internal.catalog.Names;
import io.sqlstreams.internal.produce.PlannedMessage;
import io.sqlstreams.internal.produce.PlannedWriter;
import io.sqlstreams.internal.sql.Call;
import io.sqlstreams.internal.sql.Database;
import io.sqlstreams.internal.sql.Instants;
import io.sqlstreams.internal.sql.Scope;
import io.sqlstreams.internal.sql.Template;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Declares schedules, and does with them what people ask for. Thread-safe. */
public final class ScheduleRegistry {
  private static final Logger LOG = LoggerFactory.getLogger(ScheduleRegistry.class);

  private final Database database;
  private final Scope system;
  private final Catalog catalog;
  private final PlannedWriter writer;
  private final LongConsumer produced;

  /**
   * @param system the installation
   * @param produced is given the stream's id after each commit of a message
   */
  public ScheduleRegistry(
      Database database,
      Scope system,
      Catalog catalog,
      PlannedWriter writer,
      LongConsumer produced) {
    this.database = database;
    this.system = system;
    this.catalog = catalog;
    this.writer = writer;
    this.produced = produced;
  }

  /**
   * Creates the schedule, or brings it to this declaration. Writes nothing when it is there and
   * equal.
   *
   * @param payload what the codec wrote; never changed from here on
   * @throws StreamNotFoundException when the stream isn't registered
   * @throws InvalidInputException when the name breaks its rule, or the stream doesn't take the
   *     message
   */
  public ScheduleInfo register(
      String name,
      String stream,
      Cron cron,
      ScheduleConfig config,
      int schemaVersion,
      byte[] payload) {
    Names.require(name);
    PlannedMessage example =
        new PlannedMessage(
            schemaVersion, payload, config.options(), new ScheduledRun(name, Instant.EPOCH, false));
    PlannedWriter.check(example);
    Declared declared =
        database.inTransaction(
            "register schedule \"" + name + "\"",
            connection -> {
              StreamInfo target = catalog.requireStream(connection, stream);
              writer.check(connection, target, example);
              return declare(
                  connection,
                  name,
                  new ScheduleDeclaration(target, cron, config, schemaVersion, payload));
            });
    declared.log();
    return declared.now();
  }

  private Declared declare(Connection connection, String name, ScheduleDeclaration declaration)
      throws SQLException {
    Optional<Schedule> equal = find(connection, name);
    if (equal.isPresent() && equal.get().is(declaration)) {
      return new Declared(equal.get().info(), equal.get().info());
    }
    if (lock(connection, name).isEmpty() && insert(connection, name, declaration)) {
      ScheduleInfo created = require(connection, name).info();
      return new Declared(created, created);
    }
    // it was there, or another process has just registered it
    requireLock(connection, name);
    Schedule before = require(connection, name);
    if (!before.is(declaration)) {
      update(connection, before, declaration);
    }
    return new Declared(before.info(), require(connection, name).info());
  }

  private boolean insert(Connection connection, String name, ScheduleDeclaration declaration)
      throws SQLException {
    long id;
    try (Call call = ScheduleSql.INSERT.in(system).on(connection);
        ResultSet row = declaration.bind(call.set("name", name)).query()) {
      if (!row.next()) {
        return false;
      }
      id = row.getLong("id");
    }
    plan(connection, ScheduleSql.INSERT_CURSOR, id, declaration.cron().next(now(connection)));
    return true;
  }

  private void update(Connection connection, Schedule before, ScheduleDeclaration declaration)
      throws SQLException {
    try (Call call = ScheduleSql.UPDATE.in(system).on(connection)) {
      declaration.bind(call.set("schedule_id", before.id())).update();
    }
    if (!before.info().cron().equals(declaration.cron()) && !before.info().suspended()) {
      Instant next = declaration.cron().next(before.restart(now(connection)));
      plan(connection, ScheduleSql.PLAN, before.id(), next);
    }
  }

  /** The schedule of this name; empty when there is none, or no installation at all. */
  public Optional<ScheduleInfo> find(String name) {
    try {
      return database
          .autoCommitted(what("read", name), connection -> find(connection, name))
          .map(Schedule::info);
    } catch (NotInstalledException e) {
      return Optional.empty();
    }
  }

  /**
   * The schedule of this name.
   *
   * @throws ScheduleNotFoundException when it isn't registered
   */
  public ScheduleInfo require(String name) {
    return database
        .autoCommitted(what("read", name), connection -> require(connection, name))
        .info();
  }

  /** The stream of this schedule; empty when it was destroyed meanwhile. */
  public Optional<StreamInfo> stream(ScheduleInfo schedule) {
    return database.autoCommitted(
        what("read", schedule.name()),
        connection -> {
          Optional<Schedule> found = find(connection, schedule.name());
          return found.isPresent()
              ? catalog.stream(connection, found.get().streamId())
              : Optional.empty();
        });
  }

  /** Every schedule, by name. */
  public List<ScheduleInfo> list() {
    return database.autoCommitted(
        "list the schedules",
        connection -> {
          try (Call call = ScheduleSql.LIST.in(system).on(connection);
              ResultSet row = call.query()) {
            List<ScheduleInfo> schedules = new ArrayList<>();
            while (row.next()) {
              schedules.add(Schedule.read(row).info());
            }
            return schedules;
          }
        });
  }

  /**
   * Produces one message more.
   *
   * @throws ScheduleNotFoundException when it isn't registered
   */
  public Produced runNow(String name) {
    record Run(long stream, Produced receipt) {}
    Run run =
        database.inTransaction(
            what("run", name),
            connection -> {
              Schedule schedule = require(connection, name);
              StreamInfo stream =
                  catalog.stream(connection, schedule.streamId())
                      .orElseThrow(() -> new ScheduleNotFoundException(name));
              PlannedMessage message = schedule.messageByHand(now(connection));
              return new Run(
                  stream.id(), writer.write(connection, stream, List.of(message)).get(0));
            });
    produced.accept(run.stream());
    return run.receipt();
  }

  /**
   * Suspends the schedule.
   *
   * @return whether it wasn't before
   * @throws ScheduleNotFoundException when it isn't registered
   */
  public boolean suspend(String name) {
    return database.inTransaction(
        what("suspend", name), connection -> setSuspended(connection, name, true));
  }

  /**
   * Has a suspended schedule go on.
   *
   * @return whether it was suspended before
   * @throws ScheduleNotFoundException when it isn't registered
   */
  public boolean resume(String name) {
    return database.inTransaction(
        what("resume", name), connection -> setSuspended(connection, name, false));
  }

  private boolean setSuspended(Connection connection, String name, boolean suspended)
      throws SQLException {
    requireLock(connection, name);
    Schedule schedule = require(connection, name);
    if (schedule.info().suspended() == suspended) {
      return false;
    }
    try (Call call = ScheduleSql.SUSPEND.in(system).on(connection)) {
      call.set("schedule_id", schedule.id()).set("suspended", suspended).update();
    }
    Instant next =
        suspended ? null : schedule.info().cron().next(schedule.restart(now(connection)));
    plan(connection, ScheduleSql.PLAN, schedule.id(), next);
    return true;
  }

  /** Removes the schedule; does nothing when there is none. */
  public void destroy(String name) {
    try {
      database.inTransaction(
          what("destroy", name),
          connection -> {
            lock(connection, name);
            try (Call call = ScheduleSql.DELETE.in(system).on(connection)) {
              return call.set("name", name).update();
            }
          });
    } catch (NotInstalledException e) {
      LOG.debug("no installation, so no schedule \"{}\"", name);
    }
  }

  private Optional<Schedule> find(Connection connection, String name) throws SQLException {
    if (!Names.isValid(name)) {
      return Optional.empty();
    }
    try (Call call = ScheduleSql.FIND.in(system).on(connection);
        ResultSet row = call.set("name", name).query()) {
      return row.next() ? Optional.of(Schedule.read(row)) : Optional.empty();
    }
  }

  private Schedule require(Connection connection, String name) throws SQLException {
    return find(connection, name).orElseThrow(() -> new ScheduleNotFoundException(name));
  }

  private Optional<Long> lock(Connection connection, String name) throws SQLException {
    if (!Names.isValid(name)) {
      return Optional.empty();
    }
    try (Call call = ScheduleSql.LOCK.in(system).on(connection);
        ResultSet row = call.set("name", name).query()) {
      return row.next() ? Optional.of(row.getLong("schedule_id")) : Optional.empty();
    }
  }

  private void requireLock(Connection connection, String name) throws SQLException {
    if (lock(connection, name).isEmpty()) {
      throw new ScheduleNotFoundException(name);
    }
  }

  private void plan(Connection connection, Template write, long id, @Nullable Instant next)
      throws SQLException {
    try (Call call = write.in(system).on(connection)) {
      call.set("schedule_id", id).set("next_scheduled_at", next).update();
    }
  }

  private Instant now(Connection connection) throws SQLException {
    try (Call call = ScheduleSql.NOW.in(system).on(connection);
        ResultSet row = call.query()) {
      row.next();
      return Instants.of(row, "now");
    }
  }

  private static String what(String verb, String name) {
    return verb + " schedule \"" + name + "\"";
  }

  private record Declared(ScheduleInfo before, ScheduleInfo now) {
    void log() {
      log("stream", before.stream(), now.stream());
      log("cron", before.cron(), now.cron());
      log("missedRuns", before.config().missedRuns(), now.config().missedRuns());
      log("missedAfter", before.config().missedAfter(), now.config().missedAfter());
      log("schemaVersion", before.schemaVersion(), now.schemaVersion());
      if (!before.config().options().equals(now.config().options())) {
        LOG.info("schedule \"{}\": other options", now.name());
      }
      if (!before.payload().equals(now.payload())) {
        LOG.info("schedule \"{}\": another payload", now.name());
      }
    }

    private void log(String setting, Object was, Object is) {
      if (!was.equals(is)) {
        LOG.info("schedule \"{}\": {} {} -> {}", now.name(), setting, was, is);
      }
    }
  }
}
