package io.sqlstreams.internal.produce;

import static io.sqlstreams.internal.produce.ProduceLab.json;
import static io.sqlstreams.internal.produce.ProduceLab.numbered;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.assertj.core.api.InstanceOfAssertFactories.type;

import io.sqlstreams.Outgoing;
import io.sqlstreams.Produced;
import io.sqlstreams.Producer;
import io.sqlstreams.StreamInfo;
import io.sqlstreams.codec.RawPayload;
import io.sqlstreams.config.PayloadType;
import io.sqlstreams.config.ProduceOptions;
import io.sqlstreams.config.StreamConfig;
import io.sqlstreams.error.ClosedException;
import io.sqlstreams.error.InvalidInputException;
import io.sqlstreams.error.StreamNotFoundException;
import io.sqlstreams.internal.catalog.Catalog;
import io.sqlstreams.internal.migration.Gate;
import io.sqlstreams.internal.partition.Partitions;
import io.sqlstreams.internal.produce.ProduceLab.Row;
import io.sqlstreams.internal.schema.Steps;
import io.sqlstreams.internal.sql.Database;
import io.sqlstreams.internal.sql.Scope;
import io.sqlstreams.test.SqlStreamsTest;
import io.sqlstreams.test.TestDatabase;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

@SqlStreamsTest
class ProduceIT {
  /** Nothing of it survives a parser that reads numbers as doubles, or objects as maps. */
  private static final String EXACT =
      "{\"id\":9007199254740993,\"x\":1.10,\"y\":1e400,\"z\":-0.0,\"a\":1,\"a\":2}";

  private static final String EMOJI = "\ud83d\ude00";

  TestDatabase database;
  private ProduceLab lab;
  private Connection transaction;

  @BeforeEach
  void open() throws SQLException {
    lab = new ProduceLab(database, database.dataSource());
    transaction = lab.connect();
    transaction.setAutoCommit(false);
  }

  @AfterEach
  void close() throws SQLException {
    transaction.close();
    lab.close();
  }

  @Test
  void aMessageIsThereWithAllThatGoesWithIt() {
    StreamInfo stream = lab.register();
    Produced produced =
        lab.producer(stream)
            .produce(
                json("{\"a\": 1 }"),
                ProduceOptions.key("k" + EMOJI)
                    .withRoutingKey("r")
                    .withHeaders(Map.of("n", "v\"" + EMOJI)));
    assertThat(lab.rows(stream))
        .containsExactly(
            new Row(
                produced.id(),
                1,
                "r",
                "k" + EMOJI,
                "{\"a\": 1 }",
                "{\"n\": \"v\\\"" + EMOJI + "\"}"));
  }

  @Test
  void noKeyDiffersFromAnEmptyOne() {
    StreamInfo stream = lab.register();
    lab.producer(stream).produce(json("1"));
    lab.producer(stream).produce(json("2"), ProduceOptions.key("").withRoutingKey(""));
    assertThat(lab.rows(stream)).extracting(Row::messageKey).containsExactly(null, "");
    assertThat(lab.rows(stream)).extracting(Row::routingKey).containsExactly(null, "");
    assertThat(lab.rows(stream)).extracting(Row::headers).containsExactly(null, null);
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, LogWriter.COPY_MESSAGES - 1, LogWriter.COPY_MESSAGES, 13_108, 70_000})
  void b48_batchesOfAnySizeGetIdsInTheListsOrder(int count) {
    StreamInfo stream = lab.register();
    List<Produced> produced = lab.producer(stream).produceAll(numbered(count));
    assertThat(produced).hasSize(count).isSortedAccordingTo((a, b) -> Long.compare(a.id(), b.id()));
    List<Row> rows = lab.rows(stream);
    assertThat(rows).extracting(Row::id).isEqualTo(produced.stream().map(Produced::id).toList());
    for (int i = 0; i < count; i++) {
      assertThat(rows.get(i).payload()).isEqualTo(Integer.toString(i));
      assertThat(rows.get(i).messageKey()).isEqualTo(Integer.toString(i));
    }
    assertThat(lab.number("SELECT count(DISTINCT xmin::text) FROM " + lab.log(stream)))
        .isEqualTo(1);
  }

  @Test
  void idsKeepTheListsOrderWhileOthersDrawIdsToo() {
    StreamInfo stream = lab.register();
    List<CompletableFuture<List<Produced>>> all = new ArrayList<>();
    for (int t = 0; t < 8; t++) {
      int count = t % 2 == 0 ? 150 : 1_000;
      all.add(
          CompletableFuture.supplyAsync(
              () -> {
                List<Produced> last = List.of();
                for (int i = 0; i < 10; i++) {
                  last = lab.producer(stream).produceAll(numbered(count));
                }
                return last;
              }));
    }
    for (CompletableFuture<List<Produced>> each : all) {
      List<Produced> produced = each.join();
      assertThat(produced).isSortedAccordingTo((a, b) -> Long.compare(a.id(), b.id()));
      String ids =
          produced.stream().map(p -> Long.toString(p.id())).collect(Collectors.joining(","));
      assertThat(
              lab.query(
                  "SELECT payload FROM "
                      + lab.log(stream)
                      + " WHERE id IN ("
                      + ids
                      + ") ORDER BY id",
                  row -> row.getInt(1)))
          .isEqualTo(IntStream.range(0, produced.size()).boxed().toList());
    }
    assertThat(lab.count(stream)).isEqualTo(4 * 10 * 150 + 4 * 10 * 1_000);
  }

  @Test
  void b48_anEmptyListDoesNotEvenTakeAConnection() throws SQLException {
    try (ProduceLab unreachable = new ProduceLab(database, new UnreachableDataSource())) {
      Producer<RawPayload> producer = unreachable.producer("no such stream");
      assertThat(producer.produceAll(List.of())).isEmpty();
      transaction.close();
      assertThat(producer.in(transaction).produceAll(List.of())).isEmpty();
    }
  }

  @ParameterizedTest
  @EnumSource(PayloadType.class)
  void bothWaysWriteTheSameBytes(PayloadType payloadType) {
    StreamInfo stream = lab.register(StreamConfig.defaults().withPayloadType(payloadType));
    List<Outgoing<RawPayload>> samples = new ArrayList<>();
    for (String payload :
        List.of(
            EXACT.replace("1e400", "1e300"),
            " [ 1 ,\n\"\\u00e9" + EMOJI + "\" ] ",
            "\"\"",
            "null")) {
      samples.add(Outgoing.of(json(payload)));
      samples.add(
          Outgoing.of(
              json(payload),
              ProduceOptions.key(EMOJI)
                  .withRoutingKey("")
                  .withHeaders(Map.of("a\\\"\n", "\u0001" + EMOJI, "b", ""))));
    }
    if (payloadType == PayloadType.BYTEA) {
      samples.add(Outgoing.of(RawPayload.of(new byte[] {0, -1, 39, 92, 10})));
      samples.add(Outgoing.of(RawPayload.of(new byte[0])));
    }
    Producer<RawPayload> producer = lab.producer(stream);
    List<Produced> few = producer.produceAll(samples);
    List<Outgoing<RawPayload>> enough =
        Collections.nCopies(LogWriter.COPY_MESSAGES, samples).stream()
            .flatMap(List::stream)
            .toList();
    List<Produced> many = producer.produceAll(enough);
    for (int i = 0; i < samples.size(); i++) {
      assertThat(wire(stream, many.get(i).id())).isEqualTo(wire(stream, few.get(i).id()));
      if (payloadType != PayloadType.JSONB) {
        assertThat(bytes(stream, many.get(i).id())).isEqualTo(samples.get(i).payload().bytes());
      }
    }
  }

  @Test
  void b45_jsonComesBackByteForByte() {
    StreamInfo stream = lab.register();
    lab.producer(stream).produce(json(EXACT));
    lab.producer(stream)
        .produceAll(Collections.nCopies(LogWriter.COPY_MESSAGES, Outgoing.of(json(EXACT))));
    assertThat(lab.payloads(stream)).hasSize(LogWriter.COPY_MESSAGES + 1).containsOnly(EXACT);
  }

  /** The row as the server sends it, but for id and time. */
  private List<String> wire(StreamInfo stream, long id) {
    return lab.query(
        "SELECT ROW(m.schema_version, m.routing_key, m.message_key, m.payload, m.headers, m.options, m.compaction_rank)::text FROM "
            + lab.log(stream)
            + " AS m WHERE id = "
            + id,
        row -> row.getString(1));
  }

  private byte[] bytes(StreamInfo stream, long id) {
    String payload =
        stream.config().payloadType() == PayloadType.BYTEA
            ? "payload"
            : "convert_to(payload::text, 'UTF8')";
    return lab.query(
            "SELECT " + payload + " FROM " + lab.log(stream) + " WHERE id = " + id,
            row -> row.getBytes(1))
        .get(0);
  }

  @Test
  void theLargestPayloadIsTakenAndOneByteMoreIsNot() {
    int limit = StreamConfig.DEFAULT_MAX_PAYLOAD_BYTES;
    for (PayloadType payloadType : PayloadType.values()) {
      StreamInfo stream = lab.register(StreamConfig.defaults().withPayloadType(payloadType));
      byte[] largest = new byte[limit];
      Arrays.fill(largest, (byte) 'x');
      largest[0] = '"';
      largest[limit - 1] = '"';
      long id = lab.producer(stream).produce(RawPayload.of(largest)).id();
      assertThat(bytes(stream, id)).isEqualTo(largest);
      byte[] larger = Arrays.copyOf(largest, limit + 1);
      larger[limit - 1] = 'x';
      larger[limit] = '"';
      assertThatThrownBy(() -> lab.producer(stream).produce(RawPayload.of(larger)))
          .hasMessageContaining("16777217 bytes, the stream's limit is 16777216")
          .asInstanceOf(type(InvalidInputException.class))
          .extracting(InvalidInputException::field)
          .isEqualTo("payload");
      assertThat(lab.count(stream)).isEqualTo(1);
    }
  }

  @Test
  void manyLargePayloadsGoThrough() {
    StreamInfo stream = lab.register(StreamConfig.defaults().withPayloadType(PayloadType.BYTEA));
    List<Outgoing<RawPayload>> messages = new ArrayList<>();
    for (int i = 0; i < 20; i++) {
      messages.add(Outgoing.of(RawPayload.of(new byte[5_000_000 + i])));
    }
    lab.producer(stream).produceAll(messages);
    assertThat(
            lab.query(
                "SELECT length(payload) FROM " + lab.log(stream) + " ORDER BY id",
                row -> row.getInt(1)))
        .isEqualTo(IntStream.range(5_000_000, 5_000_020).boxed().toList());
  }

  /**
   * What no text of PostgreSQL can hold is refused by name, alone and within a list; then nothing
   * of the list is written.
   */
  @Test
  void b43_noNulAndNoHalfCharacterAnywhere() throws SQLException {
    for (PayloadType payloadType : new PayloadType[] {PayloadType.JSON, PayloadType.JSONB}) {
      StreamInfo stream = lab.register(StreamConfig.defaults().withPayloadType(payloadType));
      Producer<RawPayload> producer = lab.producer(stream);
      RawPayload good = json("\"" + EMOJI + "\"");
      for (String bad : List.of("x\0", "\ud800", "\udc00x")) {
        refused(producer, "messageKey", Outgoing.of(good, ProduceOptions.key(bad)));
        refused(
            producer,
            "routingKey",
            Outgoing.of(good, ProduceOptions.defaults().withRoutingKey(bad)));
        refused(
            producer, "headers", Outgoing.of(good, ProduceOptions.defaults().withHeader(bad, "v")));
        refused(
            producer, "headers", Outgoing.of(good, ProduceOptions.defaults().withHeader("n", bad)));
      }
      refused(producer, "payload", Outgoing.of(RawPayload.of(new byte[] {'"', 0, '"'})));
      refused(
          producer,
          "payload",
          Outgoing.of(RawPayload.of(new byte[] {'"', (byte) 0xed, (byte) 0xa0, (byte) 0x80, '"'})));
      refused(producer, "payload", Outgoing.of(json("{\"a\":")));
      refused(producer, "payload", Outgoing.of(RawPayload.of(new byte[0])));
      refused(producer, "payload", Outgoing.of(json("[".repeat(200_000))));
      for (String escaped : List.of("\"\\u0000\"", "\"\\ud800\"", "\"\\udc00\"")) {
        if (payloadType == PayloadType.JSONB) {
          refused(producer, "payload", Outgoing.of(json(escaped)));
        }
      }
      if (payloadType == PayloadType.JSONB) {
        refused(producer, "payload", Outgoing.of(json("1e1000000")));
      }
      assertThat(lab.count(stream)).isZero();
      producer.in(transaction).produce(good, ProduceOptions.key(EMOJI));
      transaction.commit();
      assertThat(lab.count(stream)).isEqualTo(1);
    }
    StreamInfo kept = lab.register();
    for (String escaped : List.of("\"\\u0000\"", "\"\\ud800\"", "\"\\udc00\"")) {
      lab.producer(kept).produce(json(escaped));
    }
    assertThat(lab.payloads(kept)).containsExactly("\"\\u0000\"", "\"\\ud800\"", "\"\\udc00\"");
  }

  /** In every form: alone, asynchronously, within a list, and in a transaction that goes on. */
  private void refused(Producer<RawPayload> producer, String field, Outgoing<RawPayload> bad) {
    List<ThrowingCallable> forms = new ArrayList<>();
    forms.add(() -> producer.produce(bad.payload(), bad.options()));
    forms.add(() -> producer.produceAsync(bad.payload(), bad.options()).join());
    forms.add(() -> producer.in(transaction).produce(bad.payload(), bad.options()));
    for (int count : new int[] {10, LogWriter.COPY_MESSAGES}) {
      List<Outgoing<RawPayload>> messages = new ArrayList<>(numbered(count));
      messages.set(count / 2, bad);
      forms.add(() -> producer.produceAll(messages));
      forms.add(() -> producer.in(transaction).produceAll(messages));
    }
    for (ThrowingCallable form : forms) {
      Throwable thrown = catchThrowable(form);
      assertThat(thrown instanceof CompletionException ? thrown.getCause() : thrown)
          .asInstanceOf(type(InvalidInputException.class))
          .extracting(InvalidInputException::field)
          .isEqualTo(field);
    }
  }

  @Test
  void bytesRoundTripWhateverTheyAre() {
    StreamInfo stream = lab.register(StreamConfig.defaults().withPayloadType(PayloadType.BYTEA));
    byte[] all = new byte[256];
    for (int i = 0; i < all.length; i++) {
      all[i] = (byte) i;
    }
    long id = lab.producer(stream).produce(RawPayload.of(all)).id();
    assertThat(bytes(stream, id)).isEqualTo(all);
  }

  @Test
  void theServersRefusalQuotesNothingOfThePayload() {
    StreamInfo stream = lab.register();
    assertThatThrownBy(() -> lab.producer(stream).produce(json("{secret}")))
        .isInstanceOf(InvalidInputException.class)
        .satisfies(e -> assertThat(stackTrace(e)).contains("22P02").doesNotContain("secret"));
    assertThatThrownBy(
            () ->
                lab.producer(stream)
                    .produceAll(Collections.nCopies(500, Outgoing.of(json("{secret}")))))
        .satisfies(e -> assertThat(stackTrace(e)).doesNotContain("secret"));
    lab.execute(
        "ALTER TABLE " + lab.log(stream) + " ADD CONSTRAINT own CHECK (message_key <> 'bad')");
    assertThatThrownBy(
            () -> lab.producer(stream).produce(json("\"secret\""), ProduceOptions.key("bad")))
        .hasMessageContaining("own")
        .satisfies(e -> assertThat(stackTrace(e)).doesNotContain("secret"));
  }

  private static String stackTrace(Throwable e) {
    StringWriter text = new StringWriter();
    for (Throwable t = e; t != null; t = t.getCause()) {
      if (t instanceof SQLException sql) {
        text.append(sql.getSQLState()).append('\n');
      }
    }
    e.printStackTrace(new PrintWriter(text));
    return text.toString();
  }

  @Test
  void aStreamThatIsNotThereIsSaidSo() {
    assertThatThrownBy(() -> lab.producer("nowhere").produce(json("1")))
        .isInstanceOf(StreamNotFoundException.class);
    assertThatThrownBy(() -> lab.producer("nowhere").produceAsync(json("1")))
        .isInstanceOf(StreamNotFoundException.class);
    assertThatThrownBy(() -> lab.producer("nowhere").produceAll(numbered(1)))
        .isInstanceOf(StreamNotFoundException.class);
  }

  @Test
  void aProducerFollowsItsStreamsName() {
    StreamInfo first = lab.register();
    Producer<RawPayload> producer = lab.producer(first);
    producer.produce(json("1"));
    lab.client().stream(first.name()).destroy();
    assertThatThrownBy(() -> producer.produce(json("2")))
        .isInstanceOf(StreamNotFoundException.class);
    assertThatThrownBy(() -> producer.produceAll(numbered(500)))
        .isInstanceOf(StreamNotFoundException.class);
    StreamInfo second =
        lab.client().stream(first.name()).register(StreamConfig.defaults().withMaxPayloadBytes(3));
    assertThat(second.id()).isNotEqualTo(first.id());
    producer.produce(json("3"));
    assertThat(lab.payloads(second)).containsExactly("3");
    lab.client().stream(first.name()).destroy();
    StreamInfo third =
        lab.client().stream(first.name())
            .register(
                StreamConfig.defaults().withPayloadType(PayloadType.JSONB).withMaxPayloadBytes(2));
    assertThatThrownBy(() -> producer.produce(json("333")))
        .as("checked by the rules of the stream that it goes to")
        .isInstanceOf(InvalidInputException.class);
    producer.produce(json("4"));
    assertThat(lab.payloads(third)).containsExactly("4");
  }

  @Test
  void aRenamedStreamIsWrittenToByProducersThatRun() {
    StreamInfo stream = lab.register();
    Producer<RawPayload> producer = lab.producer(stream);
    producer.produce(json("1"));
    lab.client().stream(stream.name()).rename(stream.name() + "-new");
    producer.produce(json("2"));
    assertThat(lab.payloads(stream)).containsExactly("1", "2");
  }

  @Test
  void asynchronousMessagesArriveInTheirOrderAndTheBadOneAloneFails() throws Exception {
    StreamInfo stream = lab.register();
    Producer<RawPayload> producer = lab.producer(stream);
    List<CompletableFuture<Produced>> all = new ArrayList<>();
    for (int i = 0; i < 5_000; i++) {
      all.add(producer.produceAsync(json(i == 2_500 ? "{" : Integer.toString(i))));
    }
    long last = 0;
    for (int i = 0; i < all.size(); i++) {
      if (i == 2_500) {
        assertThatThrownBy(all.get(i)::join).hasCauseInstanceOf(InvalidInputException.class);
      } else {
        long id = all.get(i).get().id();
        assertThat(id).isGreaterThan(last);
        last = id;
      }
    }
    assertThat(lab.count(stream)).isEqualTo(4_999);
    assertThatThrownBy(() -> producer.produceAsync(json("1"), ProduceOptions.key("\0")))
        .isInstanceOf(InvalidInputException.class);
  }

  @Test
  void eachOfTheLibrarysOwnCommitsIsAnnouncedOnce() throws Exception {
    StreamInfo stream = lab.register();
    Database connections = new Database(database.dataSource(), database.schema());
    Scope system = Scope.system(database.schema());
    List<Long> announced = new CopyOnWriteArrayList<>();
    ExecutorService executor = Executors.newCachedThreadPool();
    Producers producers =
        new Producers(
            connections,
            system,
            new Catalog(connections, system, new Gate(system, Steps.ofThisBuild()))::requireStream,
            new Partitions(connections, system)::ensureThrough,
            executor,
            announced::add,
            scope -> "");
    Producer<RawPayload> producer = producers.create(stream.name(), RawPayload.codec());
    producer.produce(json("1"));
    producer.produceAll(numbered(LogWriter.COPY_MESSAGES));
    producer.produceAsync(json("2")).join();
    assertThatThrownBy(() -> producer.produce(json("{"))).isInstanceOf(InvalidInputException.class);
    try (Connection connection = lab.connect()) {
      producer.in(connection).produce(json("3"));
      assertThat(announced).hasSize(4).containsOnly(stream.id());
      connection.setAutoCommit(false);
      producer.in(connection).produce(json("4"));
      connection.commit();
    }
    assertThat(announced).as("nobody knows of the caller's commit").hasSize(4);
    producers.close(Duration.ofSeconds(10));
    executor.shutdown();
  }

  @Test
  void afterTheCloseNothingIsTaken() {
    StreamInfo stream = lab.register();
    Producer<RawPayload> producer = lab.producer(stream);
    CompletableFuture<Produced> before = producer.produceAsync(json("1"));
    lab.client().close();
    assertThat(before).isCompleted();
    assertThatThrownBy(() -> producer.produce(json("2"))).isInstanceOf(ClosedException.class);
    assertThatThrownBy(() -> producer.produceAsync(json("2"))).isInstanceOf(ClosedException.class);
    assertThatThrownBy(() -> producer.produceAll(numbered(2))).isInstanceOf(ClosedException.class);
    assertThatThrownBy(() -> lab.producer("another").produce(json("2")))
        .isInstanceOf(ClosedException.class);
    assertThat(lab.payloads(stream)).containsExactly("1");
  }
}
