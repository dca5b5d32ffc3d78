package io.sqlstreams.internal.client;

import io.sqlstreams.SqlStreams;
import io.sqlstreams.StreamHandle;
import io.sqlstreams.StreamInfo;
import io.sqlstreams.SystemHandle;
import io.sqlstreams.TransactionWork;
import io.sqlstreams.codec.PayloadCodec;
import io.sqlstreams.codec.RawPayload;
import io.sqlstreams.error.InvalidInputException;
import io.sqlstreams.internal.codec.Codecs;
import io.sqlstreams.internal.codec.PayloadReader;
import io.sqlstreams.internal.schema.Steps;
import io.sqlstreams.internal.sql.Database;
import io.sqlstreams.internal.sql.Scope;
import io.sqlstreams.internal.wake.Wakeups;
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
  public static SqlStreams create(DataSource dataSource, String schema, boolean allowDestroy) {
    return create(dataSource, schema, allowDestroy, Steps.ofThisBuild());
  }

  /**
   * The same for a build that knows these versions of the tables.
   *
   * @throws InvalidInputException when the schema's name breaks its rule
   */
  public static SqlStreams create(
      DataSource dataSource, String schema, boolean allowDestroy, Steps steps) {
    Scope system = Scope.system(schema);
    Database database = new Database(dataSource, schema);
    Wakeups wakeups = new Wakeups();
    return new Client(
        Parts.of(database, system, wakeups, allowDestroy, steps),
        schema,
        new CallerTransaction(database, schema, wakeups::wakeAll));
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
  public <R, E extends Exception> R inTransaction(TransactionWork<R, E> work) throws E {
    parts.requireOpen();
    return transaction.run(work);
  }

  @Override
  public void close() {
    parts.close();
  }
}
