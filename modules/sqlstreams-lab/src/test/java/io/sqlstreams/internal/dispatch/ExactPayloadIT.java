package io.sqlstreams.internal.dispatch;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.sqlstreams.Consumption;
import io.sqlstreams.Outcome;
import io.sqlstreams.SqlStreams;
import io.sqlstreams.codec.RawPayload;
import io.sqlstreams.config.ExceptionFilter;
import io.sqlstreams.config.GroupConfig;
import io.sqlstreams.config.Page;
import io.sqlstreams.config.PayloadType;
import io.sqlstreams.config.RetryPolicy;
import io.sqlstreams.config.Start;
import io.sqlstreams.config.StreamConfig;
import io.sqlstreams.lab.Await;
import io.sqlstreams.lab.Consumer;
import io.sqlstreams.lab.TestStream;
import io.sqlstreams.test.SqlStreamsTest;
import io.sqlstreams.test.TestDatabase;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import tools.jackson.databind.JsonNode;

/** Case B45: what comes to a handler is what was produced, on whichever way. */
@SqlStreamsTest
class ExactPayloadIT {
  /** Nothing of it survives a parser that reads numbers as doubles, or objects as maps. */
  private static final String EXACT =
      "{\"id\":9007199254740993,\"x\":1.10,\"y\":1e400,\"z\":-0.0,\"a\":1,\"a\":2}";

  /** What jsonb makes of it: every digit is there. */
  private static final String NORMAL =
      "{\"a\": 2, \"x\": 1.10, \"y\": 1"
          + "0".repeat(400)
          + ", \"z\": 0.0, \"id\": 9007199254740993}";

  private static final GroupConfig NO_RETRY =
      GroupConfig.defaults().withRetry(RetryPolicy.defaults().withMaxRetries(0));

  record Numbers(long id, BigDecimal x, BigDecimal y, BigDecimal z, int a) {}

  TestDatabase database;
  private SqlStreams client;
  private TestStream stream;

  @BeforeEach
  void open() {
    client = TestStream.client(database);
  }

  @AfterEach
  void close() {
    client.close();
  }

  @ParameterizedTest
  @EnumSource(PayloadType.class)
  void b45_everyDigitComesBackAtOnceAndAfterRedriveAndRewind(PayloadType payloadType) {
    stream =
        TestStream.register(
            database, StreamConfig.defaults().withPayloadType(payloadType), NO_RETRY);
    String expected = payloadType == PayloadType.JSONB ? NORMAL : EXACT;
    long id = client.stream(stream.name()).producer().produce(RawPayload.of(EXACT)).id();
    var group = client.stream(stream.name()).group("g");
    List<String> handled = new CopyOnWriteArrayList<>();
    try (Consumer failing =
        Consumer.start(
            client,
            stream,
            message -> {
              handled.add(message.payload().text());
              throw new IllegalStateException("no");
            })) {
      stream.awaitDead(1);
      assertThat(failing.received()).hasSize(1);
    }
    assertThat(group.exceptions().list(ExceptionFilter.dead(), Page.first(10)))
        .singleElement()
        .satisfies(dead -> assertThat(dead.messageId()).isEqualTo(id));
    assertThat(client.stream(stream.name()).message(id).orElseThrow().payload())
        .isEqualTo(RawPayload.of(expected));
    group.exceptions().redrive(ExceptionFilter.dead(), 10);
    handled.addAll(handledBy(2 - handled.size()));
    group.rewind(Start.BEGINNING);
    handled.addAll(handledBy(1));
    assertThat(handled).hasSize(3).containsOnly(expected);
    assertThat(stream.rows("SELECT payload FROM {log}"))
        .containsExactly(
            payloadType == PayloadType.BYTEA
                ? "\\x" + java.util.HexFormat.of().formatHex(EXACT.getBytes(UTF_8))
                : expected);
  }

  private List<String> handledBy(int messages) {
    List<String> handled = new ArrayList<>();
    try (Consumer consumer = Consumer.start(client, stream, message -> Outcome.done())) {
      consumer.awaitReceived(messages);
      stream.awaitSettled();
      consumer.received().forEach(message -> handled.add(message.payload().text()));
    }
    return handled;
  }

  @ParameterizedTest
  @EnumSource(PayloadType.class)
  void b45_typedHandlersSeeEveryDigitToo(PayloadType payloadType) {
    stream =
        TestStream.register(
            database, StreamConfig.defaults().withPayloadType(payloadType), NO_RETRY);
    client.stream(stream.name()).producer().produce(RawPayload.of(EXACT));
    BigDecimal large =
        payloadType == PayloadType.JSONB ? BigDecimal.TEN.pow(400) : new BigDecimal("1e400");
    assertThat(handledAs(Numbers.class))
        .isEqualTo(
            new Numbers(
                9007199254740993L, new BigDecimal("1.10"), large, new BigDecimal("0.0"), 2));
    client.stream(stream.name()).group("g").rewind(Start.BEGINNING);
    JsonNode tree = handledAs(JsonNode.class);
    assertThat(tree.get("id").longValue()).isEqualTo(9007199254740993L);
    assertThat(tree.get("x").decimalValue()).isEqualTo(new BigDecimal("1.10"));
    assertThat(tree.get("y").decimalValue()).isEqualTo(large);
    client.stream(stream.name()).group("g").rewind(Start.BEGINNING);
    assertThat(handledAs(Map.class))
        .isEqualTo(
            payloadType == PayloadType.JSONB
                ? Map.of(
                    "id",
                    9007199254740993L,
                    "x",
                    new BigDecimal("1.10"),
                    "y",
                    java.math.BigInteger.TEN.pow(400),
                    "z",
                    new BigDecimal("0.0"),
                    "a",
                    2)
                : Map.of(
                    "id",
                    9007199254740993L,
                    "x",
                    new BigDecimal("1.10"),
                    "y",
                    large,
                    "z",
                    new BigDecimal("0.0"),
                    "a",
                    2));
  }

  private <T> T handledAs(Class<T> type) {
    List<T> handled = new CopyOnWriteArrayList<>();
    try (Consumption running =
        client.stream(stream.name(), type)
            .group("g")
            .consume(
                message -> {
                  handled.add(message.payload());
                  return Outcome.done();
                },
                Consumer.QUICK)) {
      Await.until("it is handled", () -> !handled.isEmpty());
      running.stop();
    }
    return handled.get(0);
  }

  /** What a typed producer writes is the text of its numbers, not that of a double. */
  @Test
  void b45_typedProducersWriteEveryDigit() {
    stream = TestStream.register(database);
    client.stream(stream.name(), Numbers.class)
        .producer()
        .produce(
            new Numbers(
                9007199254740993L,
                new BigDecimal("1.10"),
                new BigDecimal("1E+400"),
                new BigDecimal("0.0"),
                2));
    assertThat(stream.rows("SELECT payload FROM {log}"))
        .containsExactly("{\"id\":9007199254740993,\"x\":1.10,\"y\":1E+400,\"z\":0.0,\"a\":2}");
  }
}
