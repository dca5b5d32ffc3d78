package io.sqlstreams.internal.codec;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.assertj.core.api.InstanceOfAssertFactories.type;

import io.sqlstreams.Consumption;
import io.sqlstreams.Outcome;
import io.sqlstreams.Outgoing;
import io.sqlstreams.Producer;
import io.sqlstreams.SqlStreams;
import io.sqlstreams.codec.PayloadCodec;
import io.sqlstreams.config.ConsumeOptions;
import io.sqlstreams.config.GroupConfig;
import io.sqlstreams.config.PayloadType;
import io.sqlstreams.config.RetryPolicy;
import io.sqlstreams.config.StreamConfig;
import io.sqlstreams.error.InvalidInputException;
import io.sqlstreams.lab.Consumer;
import io.sqlstreams.lab.NamedTransaction;
import io.sqlstreams.lab.TestStream;
import io.sqlstreams.test.SqlStreamsTest;
import io.sqlstreams.test.TestDatabase;
import java.sql.Connection;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Codecs of a user's that fail, or that are careless. */
@SqlStreamsTest
class PayloadCodecIT {
  private static final GroupConfig NO_RETRY =
      GroupConfig.defaults().withRetry(RetryPolicy.defaults().withMaxRetries(0));

  /** Enough to be written by COPY. */
  private static final int MANY = 300;

  TestDatabase database;
  private SqlStreams client;
  private TestStream stream;

  @BeforeEach
  void register() {
    client = TestStream.client(database);
    stream = TestStream.register(database, StreamConfig.defaults(), NO_RETRY);
  }

  @AfterEach
  void close() {
    client.close();
  }

  /** Texts as JSON numbers or whatever they are; {@code bad} is what it can't do. */
  private record TextCodec(Fault fault) implements PayloadCodec<String> {
    @Override
    public byte[] encode(String payload) throws Exception {
      return payload.equals("bad") ? fault.encode() : payload.getBytes(UTF_8);
    }

    @Override
    public String decode(byte[] bytes) throws Exception {
      String payload = new String(bytes, UTF_8);
      return payload.equals("\"unreadable\"") ? fault.decode() : payload;
    }
  }

  /** What a codec does with what it can't do. */
  enum Fault {
    EXCEPTION {
      @Override
      byte[] encode() throws Exception {
        throw new Exception("can't write secret");
      }

      @Override
      String decode() throws Exception {
        throw new Exception("can't read secret");
      }
    },
    NULL {
      @Override
      byte[] encode() {
        return null;
      }

      @Override
      String decode() {
        return null;
      }
    },
    STACK_OVERFLOW {
      @Override
      byte[] encode() {
        throw new StackOverflowError();
      }

      @Override
      String decode() {
        throw new StackOverflowError();
      }
    },
    /** For reading that is an error like others. */
    NO_JSON {
      @Override
      byte[] encode() {
        return "secret".getBytes(UTF_8);
      }

      @Override
      String decode() {
        throw new AssertionError("secret");
      }
    };

    abstract byte[] encode() throws Exception;

    abstract String decode() throws Exception;
  }

  /** Ways to produce. */
  private interface Form {
    void produce(Producer<String> producer, List<Outgoing<String>> messages) throws Exception;
  }

  private static List<Outgoing<String>> messages(int count, String middle) {
    List<Outgoing<String>> messages = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      messages.add(Outgoing.of(i == count / 2 ? middle : Integer.toString(i)));
    }
    return messages;
  }

  private static InvalidInputException refusal(Throwable thrown) {
    Throwable e = thrown instanceof CompletionException ? thrown.getCause() : thrown;
    assertThat(e)
        .isInstanceOf(InvalidInputException.class)
        .hasMessageStartingWith("payload: ")
        .hasMessageNotContaining("secret");
    return (InvalidInputException) e;
  }

  @ParameterizedTest
  @EnumSource(Fault.class)
  void aPayloadThatCanNotBeWrittenIsRefusedByNameInEveryFormAndNothingIsWritten(Fault fault)
      throws Exception {
    Producer<String> producer = client.stream(stream.name(), new TextCodec(fault)).producer();
    refusal(catchThrowable(() -> producer.produce("bad")));
    for (int count : new int[] {1, 10, MANY}) {
      refusal(catchThrowable(() -> producer.produceAll(messages(count, "bad"))));
    }
    refusal(catchThrowable(() -> producer.produceAsync("bad").join()));
    assertThat(stream.number("SELECT count(*) FROM {log}")).isZero();

    // those that are committed together with it are written
    List<CompletableFuture<?>> others = new ArrayList<>();
    for (int i = 0; i < 50; i++) {
      others.add(producer.produceAsync("1"));
      if (i == 25) {
        refusal(catchThrowable(() -> producer.produceAsync("bad").join()));
      }
    }
    CompletableFuture.allOf(others.toArray(CompletableFuture[]::new)).get(20, SECONDS);
    assertThat(stream.number("SELECT count(*) FROM {log}")).isEqualTo(50);

    try (Connection connection = stream.unpooled()) {
      connection.setAutoCommit(false);
      producer.in(connection).produce("1");
      refusal(catchThrowable(() -> producer.in(connection).produce("bad")));
      for (int count : new int[] {1, 10, MANY}) {
        refusal(catchThrowable(() -> producer.in(connection).produceAll(messages(count, "bad"))));
      }
      producer.in(connection).produce("2");
      connection.commit();
    }
    assertThat(stream.number("SELECT count(*) FROM {log}")).as("usable").isEqualTo(52);
  }

  /** What the database is needed for can't be reached. */
  @ParameterizedTest
  @EnumSource(value = Fault.class, names = "NO_JSON", mode = EnumSource.Mode.EXCLUDE)
  void aPayloadThatCanNotBeWrittenIsRefusedBeforeAnythingIsSent(Fault fault) throws Exception {
    Connection closed = stream.unpooled();
    closed.close();
    try (SqlStreams nowhere =
        SqlStreams.builder(database.server().newDatabase("nowhere").dataSource())
            .schema("no_such_schema")
            .build()) {
      Producer<String> producer = nowhere.stream("nowhere", new TextCodec(fault)).producer();
      refusal(catchThrowable(() -> producer.produce("bad")));
      refusal(catchThrowable(() -> producer.produceAsync("bad")));
      refusal(catchThrowable(() -> producer.produceAll(messages(10, "bad"))));
      refusal(catchThrowable(() -> producer.in(closed).produce("bad")));
      refusal(catchThrowable(() -> producer.in(closed).produceAll(messages(10, "bad"))));
    }
  }

  @Test
  void anErrorOfTheCodecGoesToTheCallerAndNothingIsWritten() throws Exception {
    PayloadCodec<String> codec =
        new PayloadCodec<>() {
          @Override
          public byte[] encode(String payload) {
            if (payload.equals("bad")) {
              throw new NoClassDefFoundError("a/library/that/is/missing");
            }
            return payload.getBytes(UTF_8);
          }

          @Override
          public String decode(byte[] bytes) {
            return new String(bytes, UTF_8);
          }
        };
    Producer<String> producer = client.stream(stream.name(), codec).producer();
    try (Connection connection = stream.unpooled()) {
      connection.setAutoCommit(false);
      for (Form form :
          List.<Form>of(
              (to, messages) -> to.produce("bad"),
              (to, messages) -> to.produceAsync("bad"),
              Producer::produceAll,
              (to, messages) -> to.in(connection).produce("bad"),
              (to, messages) -> to.in(connection).produceAll(messages))) {
        assertThatThrownBy(() -> form.produce(producer, messages(MANY, "bad")))
            .isInstanceOf(NoClassDefFoundError.class);
      }
      producer.in(connection).produce("1");
      connection.commit();
    }
    producer.produce("2");
    assertThat(stream.rows("SELECT payload FROM {log} ORDER BY id")).containsExactly("1", "2");
  }

  @ParameterizedTest
  @EnumSource(Fault.class)
  void aPayloadThatCanNotBeReadIsDeadWithItsBytesKeptWhileOthersFlow(Fault fault) {
    var named = client.stream(stream.name(), new TextCodec(fault));
    long bad = named.producer().produceAll(messages(10, "\"unreadable\"")).get(5).id();
    List<String> handled = new CopyOnWriteArrayList<>();
    try (Consumption running =
        named
            .group("g")
            .consume(
                message -> {
                  handled.add(message.payload());
                  return Outcome.done();
                },
                Consumer.QUICK)) {
      stream.awaitDead(1);
      stream.awaitSettled();
      running.stop();
      assertThat(running.counters().undecodable()).isEqualTo(1);
    }
    assertThat(handled).hasSize(9);
    assertThat(stream.rows("SELECT message_id, last_error FROM {queue}"))
        .singleElement()
        .asString()
        .startsWith(bad + "|the payload can't be read: ")
        .doesNotContain("secret");
    assertThat(stream.rows("SELECT payload FROM {log} WHERE id = " + bad))
        .containsExactly("\"unreadable\"");
  }

  /** The codec fills one buffer for all; before, a list was written as its last payload. */
  @Test
  void aCodecThatUsesOneBufferForAllWritesEachPayload() throws Exception {
    byte[] buffer = new byte[3];
    PayloadCodec<Integer> codec =
        new PayloadCodec<>() {
          @Override
          public byte[] encode(Integer payload) {
            System.arraycopy(Integer.toString(100 + payload).getBytes(UTF_8), 0, buffer, 0, 3);
            return buffer;
          }

          @Override
          public Integer decode(byte[] bytes) {
            return Integer.parseInt(new String(bytes, UTF_8)) - 100;
          }
        };
    Producer<Integer> producer = client.stream(stream.name(), codec).producer();
    producer.produceAll(IntStream.range(0, 10).mapToObj(Outgoing::of).toList());
    producer.produceAll(
        IntStream.range(10, 10 + MANY).mapToObj(i -> Outgoing.of(i % 900)).toList());
    List<CompletableFuture<?>> all = new ArrayList<>();
    for (int i = 0; i < 100; i++) {
      all.add(producer.produceAsync(i));
    }
    CompletableFuture.allOf(all.toArray(CompletableFuture[]::new)).get(20, SECONDS);
    List<Long> expected = new ArrayList<>();
    IntStream.range(0, 10 + MANY).forEach(i -> expected.add(100L + i));
    IntStream.range(0, 100).forEach(i -> expected.add(100L + i));
    assertThat(stream.longs("SELECT payload::text::int FROM {log} ORDER BY id"))
        .isEqualTo(expected);
  }

  @Test
  void aCallersArrayMayBeChangedOnceTheCallHasReturned() throws Exception {
    stream =
        TestStream.register(
            database, StreamConfig.defaults().withPayloadType(PayloadType.BYTEA), NO_RETRY);
    byte[] payload = {1, 2, 3};
    CompletableFuture<?> sent;
    try (NamedTransaction writer = stream.begin("in the way")) {
      writer.runs("LOCK TABLE {log} IN SHARE MODE");
      sent = client.stream(stream.name(), byte[].class).producer().produceAsync(payload);
      payload[0] = 9;
      writer.commits();
    }
    sent.get(20, SECONDS);
    assertThat(stream.rows("SELECT payload FROM {log}")).containsExactly("\\x010203");
  }

  /**
   * The messages of a transaction that is rolled back whole run again from memory. Before, a codec
   * that decodes in place was given its own leavings then.
   */
  @Test
  void whatIsDecodedInPlaceIsWholeWhenATransactionIsTriedAgain() {
    PayloadCodec<String> inPlace =
        new PayloadCodec<>() {
          @Override
          public byte[] encode(String payload) {
            return payload.getBytes(UTF_8);
          }

          @Override
          public String decode(byte[] bytes) {
            String payload = new String(bytes, UTF_8);
            java.util.Arrays.fill(bytes, (byte) '!');
            return payload;
          }
        };
    var named = client.stream(stream.name(), inPlace);
    named.producer().produceAll(messages(5, "4711"));
    AtomicBoolean cut = new AtomicBoolean();
    List<String> handled = new CopyOnWriteArrayList<>();
    try (Consumption running =
        named
            .group("g")
            .consumeTransactional(
                (message, connection) -> {
                  handled.add(message.payload());
                  if (message.payload().equals("4711") && cut.compareAndSet(false, true)) {
                    try (Statement statement = connection.createStatement()) {
                      statement.execute("SELECT pg_terminate_backend(pg_backend_pid())");
                    }
                  }
                  return Outcome.done();
                },
                ConsumeOptions.defaults().withHandlers(1))) {
      stream.awaitSettled();
      running.stop();
    }
    assertThat(handled)
        .as("it was tried again")
        .hasSizeGreaterThan(5)
        .containsOnly("0", "1", "4711", "3", "4");
    assertThat(stream.number("SELECT count(*) FROM {queue}")).isZero();
  }

  @Test
  void noCodecAndNoClassAreRefusedByName() {
    assertThatThrownBy(() -> client.stream("s", (PayloadCodec<String>) null))
        .asInstanceOf(type(InvalidInputException.class))
        .extracting(InvalidInputException::field)
        .isEqualTo("codec");
    assertThatThrownBy(() -> client.stream("s", (Class<String>) null))
        .asInstanceOf(type(InvalidInputException.class))
        .extracting(InvalidInputException::field)
        .isEqualTo("type");
  }
}
