package io.sqlstreams.internal.produce;

import static io.sqlstreams.internal.produce.ProduceLab.json;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.assertj.core.api.InstanceOfAssertFactories.type;

import io.sqlstreams.Message;
import io.sqlstreams.Outcome;
import io.sqlstreams.Outgoing;
import io.sqlstreams.Producer;
import io.sqlstreams.SqlStreams;
import io.sqlstreams.codec.RawPayload;
import io.sqlstreams.config.ProduceOptions;
import io.sqlstreams.error.InvalidInputException;
import io.sqlstreams.lab.Consumer;
import io.sqlstreams.lab.TestStream;
import io.sqlstreams.test.SqlStreamsTest;
import io.sqlstreams.test.TestDatabase;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.function.Function;
import java.util.stream.Stream;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** What may go with a message, at the limits, from each form of produce to the handler. */
@SqlStreamsTest
class MessageEdgesIT {
  private static final int LIMIT = MessageChecks.MAX_KEY_BYTES;
  private static final String EMOJI = "\ud83d\ude00";
  private static final int FEW = 10;
  private static final int MANY = LogWriter.COPY_MESSAGES;

  TestDatabase database;
  private SqlStreams client;
  private TestStream stream;
  private Connection connection;

  @BeforeEach
  void open() throws SQLException {
    client = TestStream.client(database);
    stream = TestStream.register(database);
    connection = stream.unpooled();
    connection.setAutoCommit(false);
  }

  @AfterEach
  void close() throws SQLException {
    connection.close();
    client.close();
  }

  /** The ways to produce. */
  enum Form {
    SINGLE {
      @Override
      void produce(Producer<RawPayload> producer, Connection connection, ProduceOptions options) {
        producer.produce(json("1"), options);
      }
    },
    ASYNC {
      @Override
      void produce(Producer<RawPayload> producer, Connection connection, ProduceOptions options) {
        producer.produceAsync(json("1"), options).join();
      }
    },
    INSERT {
      @Override
      void produce(Producer<RawPayload> producer, Connection connection, ProduceOptions options) {
        producer.produceAll(among(FEW, options));
      }
    },
    COPY {
      @Override
      void produce(Producer<RawPayload> producer, Connection connection, ProduceOptions options) {
        producer.produceAll(among(MANY, options));
      }
    },
    SINGLE_IN_TRANSACTION {
      @Override
      void produce(Producer<RawPayload> producer, Connection connection, ProduceOptions options) {
        producer.in(connection).produce(json("1"), options);
      }
    },
    INSERT_IN_TRANSACTION {
      @Override
      void produce(Producer<RawPayload> producer, Connection connection, ProduceOptions options) {
        producer.in(connection).produceAll(among(FEW, options));
      }
    },
    COPY_IN_TRANSACTION {
      @Override
      void produce(Producer<RawPayload> producer, Connection connection, ProduceOptions options) {
        producer.in(connection).produceAll(among(MANY, options));
      }
    };

    /** Produces a message with these options, in the middle of others where there are several. */
    abstract void produce(
        Producer<RawPayload> producer, Connection connection, ProduceOptions options);

    private static List<Outgoing<RawPayload>> among(int count, ProduceOptions options) {
      List<Outgoing<RawPayload>> messages =
          new ArrayList<>(Collections.nCopies(count, Outgoing.of(json("0"))));
      messages.set(count / 2, Outgoing.of(json("1"), options));
      return messages;
    }
  }

  /** What is written arrives, and empty is not none. */
  @ParameterizedTest
  @EnumSource(Form.class)
  void b46_whatIsWithinTheLimitsArrivesAsItIs(Form form) throws SQLException {
    List<ProduceOptions> all = new ArrayList<>();
    all.add(ProduceOptions.defaults());
    all.add(ProduceOptions.key("").withRoutingKey(""));
    all.add(ProduceOptions.key(""));
    all.add(ProduceOptions.defaults().withRoutingKey(""));
    all.add(ProduceOptions.defaults().withHeaders(Map.of("", "")));
    for (String text : texts(255, LIMIT - 1, LIMIT).toList()) {
      all.add(ProduceOptions.key(text));
      all.add(ProduceOptions.defaults().withRoutingKey(text));
      all.add(ProduceOptions.key(text).withRoutingKey(text).withIdempotencyKey(text));
    }
    // of a header's name only all of them together have a limit
    for (String text : texts(255, LIMIT - 1, LIMIT, LIMIT + 1, 2_600, 2_800, 9_000).toList()) {
      all.add(ProduceOptions.defaults().withHeader(text, text).withHeader("b", EMOJI));
    }
    Producer<RawPayload> producer = client.stream(stream.name()).producer();
    for (ProduceOptions options : all) {
      form.produce(producer, connection, options);
    }
    connection.commit();
    try (Consumer consumer =
        Consumer.start(client, stream, message -> Outcome.done(), Consumer.QUICK.withHandlers(1))) {
      stream.awaitSettled();
      consumer.close();
      List<Message<RawPayload>> marked =
          consumer.received().stream()
              .filter(message -> message.payload().text().equals("1"))
              .toList();
      assertThat(marked).hasSameSizeAs(all);
      for (int i = 0; i < all.size(); i++) {
        assertThat(marked.get(i).key()).isEqualTo(all.get(i).key());
        assertThat(marked.get(i).routingKey()).isEqualTo(all.get(i).routingKey());
        assertThat(marked.get(i).headers()).isEqualTo(all.get(i).headers());
      }
    }
  }

  static Stream<String> tooLong() {
    return texts(LIMIT + 1, 2_600, 2_800, 9_000);
  }

  @ParameterizedTest
  @MethodSource("tooLong")
  void b46_aKeyAboveTheLimitIsRefusedInEveryFormAndTheTransactionGoesOn(String text)
      throws SQLException {
    refused("messageKey", ProduceOptions::key, text);
    refused("routingKey", ProduceOptions.defaults()::withRoutingKey, text);
    refused("idempotencyKey", ProduceOptions.defaults()::withIdempotencyKey, text);
    client.stream(stream.name()).producer().in(connection).produce(json("1"));
    connection.commit();
    assertThat(stream.number("SELECT count(*) FROM {log}")).isEqualTo(1);
  }

  private void refused(String field, Function<String, ProduceOptions> options, String text) {
    Producer<RawPayload> producer = client.stream(stream.name()).producer();
    for (Form form : Form.values()) {
      ThrowingCallable call = () -> form.produce(producer, connection, options.apply(text));
      assertThat(catchThrowable(call))
          .as(form.name())
          .hasMessageContaining("the limit is " + LIMIT)
          .asInstanceOf(type(InvalidInputException.class))
          .extracting(InvalidInputException::field)
          .isEqualTo(field);
    }
  }

  /** An empty idempotency key is a key: the second message with it is the first one's duplicate. */
  @ParameterizedTest
  @EnumSource(Form.class)
  void anEmptyIdempotencyKeyIsAKey(Form form) throws SQLException {
    Producer<RawPayload> producer = client.stream(stream.name()).producer();
    for (int i = 0; i < 2; i++) {
      form.produce(producer, connection, ProduceOptions.defaults().withIdempotencyKey(""));
    }
    connection.commit();
    assertThat(stream.number("SELECT count(*) FROM {log} WHERE payload::text = '1'")).isEqualTo(1);
  }

  /** Random texts of so many bytes, which no index can make smaller: of one, two and four each. */
  private static Stream<String> texts(int... bytes) {
    List<String> texts = new ArrayList<>();
    for (int size : bytes) {
      Random random = new Random(size);
      texts.add(fill(size, 1, () -> '!' + random.nextInt('~' - '!')));
      texts.add(fill(size, 2, () -> 0x100 + random.nextInt(0x600)));
      texts.add(fill(size, 4, () -> 0x1f300 + random.nextInt(0x300)));
    }
    return texts.stream();
  }

  private static String fill(int bytes, int width, java.util.function.IntSupplier codePoint) {
    StringBuilder text = new StringBuilder("x".repeat(bytes % width));
    for (int i = 0; i < bytes / width; i++) {
      text.appendCodePoint(codePoint.getAsInt());
    }
    return text.toString();
  }
}
