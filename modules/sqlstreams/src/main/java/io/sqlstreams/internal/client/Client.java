package io.sqlstreams.internal.client;

import io.sqlstreams.Manager;
import io.sqlstreams.ScheduleHandle;
import io.sqlstreams.ScheduleInfo;
import io.sqlstreams.SqlStreams;
import io.sqlstreams.StreamHandle;
import io.sqlstreams.StreamInfo;
import io.sqlstreams.SystemHandle;
import io.sqlstreams.TransactionWork;
import io.sqlstreams.WorkerInfo;
import io.sqlstreams.codec.PayloadCodec;
import io.sqlstreams.codec.RawPayload;
import io.sqlstreams.error.InvalidInputException;
import io.sqlstreams.internal.codec.Codecs;
import io.sqlstreams.internal.codec.PayloadReader;
import io.sqlstreams.internal.fleet.Fleet;
import java.util.List;
import javax.sql.DataSource;

/** The client. */
public final class Client implements SqlStreams {
  private final Parts parts;
  private final String schema;
  private final CallerTransaction transaction;

  private Client(Parts parts, String schema, CallerTransaction transaction) {
    this.parts = parts;
    this.schema = schema;
    this.transaction = transaction;
  }

  /**
   * A client of the installation in this schema. No I/O.
   *
   * @throws InvalidInputException when the schema's name breaks its rule
   */
  public static SqlStreams create(DataSource dataSource, ClientSettings settings) {
    return create(dataSource, settings, Build.CURRENT);
  }

  /**
   * The same for another build.
   *
   * @throws InvalidInputException when the schema's name breaks its rule
   */
  public static SqlStreams create(DataSource dataSource, ClientSettings settings, Build build) {
    Ground ground = Ground.of(dataSource, settings, build.steps());
    Fleet fleet =
        new Fleet(
            ground.database(),
            ground.system(),
            build.duties().of(ground),
            build.timing(),
            settings.upkeep());
    return new Client(
        Parts.of(ground, fleet, settings.allowDestroy()),
        settings.schema(),
        new CallerTransaction(
            ground.database(), settings.schema(), ground.waking().wakeups()::wakeAll));
  }

  @Override
  public SystemHandle system() {
    return new NamedSystem(parts, schema);
  }

  @Override
  public <T> StreamHandle<T> stream(String name, Class<T> type) {
    return new NamedStream<>(parts, name, PayloadReader.of(Codecs.forType(type)));
  }

  @Override
  public <T> StreamHandle<T> stream(String name, PayloadCodec<T> codec) {
    return new NamedStream<>(parts, name, PayloadReader.of(Codecs.guarded(codec)));
  }

  @Override
  public StreamHandle<RawPayload> stream(String name) {
    return new NamedStream<>(parts, name, PayloadReader.of(RawPayload.codec()));
  }

  @Override
  public List<StreamInfo> streams() {
    parts.requireOpen();
    return parts.catalog().streams();
  }

  @Override
  public Manager manager() {
    return () -> {
      parts.requireOpen();
      return parts.fleet().run();
    };
  }

  @Override
  public List<WorkerInfo> workers() {
    parts.requireOpen();
    return parts.workers().list();
  }

  @Override
  public ScheduleHandle schedule(String name) {
    return new NamedSchedule(parts, name);
  }

  @Override
  public List<ScheduleInfo> schedules() {
    parts.requireOpen();
    return parts.schedules().list();
  }

  @Override
  public <R, E extends Exception> R inTransaction(TransactionWork<R, E> work) throws E {
    parts.requireOpen();
    return transaction.run(work);
  }

  @Override
  public void close() {
    parts.close();
  }
}
