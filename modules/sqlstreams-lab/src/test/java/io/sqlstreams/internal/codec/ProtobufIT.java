package io.sqlstreams.internal.codec;

import static com.google.protobuf.DescriptorProtos.FieldDescriptorProto.Type.TYPE_BYTES;
import static com.google.protobuf.DescriptorProtos.FieldDescriptorProto.Type.TYPE_DOUBLE;
import static com.google.protobuf.DescriptorProtos.FieldDescriptorProto.Type.TYPE_STRING;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.protobuf.ByteString;
import com.google.protobuf.DescriptorProtos.DescriptorProto;
import com.google.protobuf.DescriptorProtos.FieldDescriptorProto;
import com.google.protobuf.DescriptorProtos.FileDescriptorProto;
import com.google.protobuf.Descriptors.Descriptor;
import com.google.protobuf.Descriptors.DescriptorValidationException;
import com.google.protobuf.Descriptors.FileDescriptor;
import com.google.protobuf.DynamicMessage;
import com.google.protobuf.InvalidProtocolBufferException;
import io.sqlstreams.Consumption;
import io.sqlstreams.Outcome;
import io.sqlstreams.Outgoing;
import io.sqlstreams.SqlStreams;
import io.sqlstreams.StreamHandle;
import io.sqlstreams.codec.PayloadCodec;
import io.sqlstreams.codec.RawPayload;
import io.sqlstreams.config.ExceptionFilter;
import io.sqlstreams.config.GroupConfig;
import io.sqlstreams.config.PayloadType;
import io.sqlstreams.config.RetryPolicy;
import io.sqlstreams.config.StreamConfig;
import io.sqlstreams.error.InvalidInputException;
import io.sqlstreams.lab.Await;
import io.sqlstreams.lab.Consumer;
import io.sqlstreams.lab.TestStream;
import io.sqlstreams.test.SqlStreamsTest;
import io.sqlstreams.test.TestDatabase;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A binary format on a bytea stream, with the evolution that the format itself brings. */
@SqlStreamsTest
class ProtobufIT {
  /** {@code message Reading { string sensor = 1; double celsius = 2; }} */
  private static final Descriptor OLD =
      reading(field("sensor", 1, TYPE_STRING), field("celsius", 2, TYPE_DOUBLE));

  /** The same with {@code string room = 3; bytes picture = 4;}. */
  private static final Descriptor NEW =
      reading(
          field("sensor", 1, TYPE_STRING),
          field("celsius", 2, TYPE_DOUBLE),
          field("room", 3, TYPE_STRING),
          field("picture", 4, TYPE_BYTES));

  private static final StreamConfig BINARY =
      StreamConfig.defaults().withPayloadType(PayloadType.BYTEA);

  TestDatabase database;
  private SqlStreams client;
  private TestStream stream;

  @BeforeEach
  void register() {
    client = TestStream.client(database);
    stream =
        TestStream.register(
            database,
            BINARY,
            GroupConfig.defaults().withRetry(RetryPolicy.defaults().withMaxRetries(0)));
  }

  @AfterEach
  void close() {
    client.close();
  }

  /** All that it takes. Thread-safe, since the type is. */
  private record ProtobufCodec(Descriptor type) implements PayloadCodec<DynamicMessage> {
    @Override
    public byte[] encode(DynamicMessage payload) {
      return payload.toByteArray();
    }

    @Override
    public DynamicMessage decode(byte[] bytes) throws InvalidProtocolBufferException {
      return DynamicMessage.parseFrom(type, bytes);
    }
  }

  private static FieldDescriptorProto field(
      String name, int number, FieldDescriptorProto.Type type) {
    return FieldDescriptorProto.newBuilder().setName(name).setNumber(number).setType(type).build();
  }

  private static Descriptor reading(FieldDescriptorProto... fields) {
    DescriptorProto type =
        DescriptorProto.newBuilder().setName("Reading").addAllField(List.of(fields)).build();
    try {
      return FileDescriptor.buildFrom(
              FileDescriptorProto.newBuilder()
                  .setName("reading.proto")
                  .setSyntax("proto3")
                  .addMessageType(type)
                  .build(),
              new FileDescriptor[0])
          .findMessageTypeByName("Reading");
    } catch (DescriptorValidationException e) {
      throw new IllegalStateException(e);
    }
  }

  private static DynamicMessage of(Descriptor type, Object... namesAndValues) {
    DynamicMessage.Builder builder = DynamicMessage.newBuilder(type);
    for (int i = 0; i < namesAndValues.length; i += 2) {
      builder.setField(type.findFieldByName((String) namesAndValues[i]), namesAndValues[i + 1]);
    }
    return builder.build();
  }

  private static Object get(DynamicMessage message, String field) {
    return message.getField(message.getDescriptorForType().findFieldByName(field));
  }

  private StreamHandle<DynamicMessage> readings(Descriptor type) {
    return client.stream(stream.name(), new ProtobufCodec(type));
  }

  private List<DynamicMessage> consume(PayloadCodec<DynamicMessage> codec, int messages) {
    List<DynamicMessage> handled = new CopyOnWriteArrayList<>();
    try (Consumption running =
        client.stream(stream.name(), codec)
            .group("g")
            .consume(
                message -> {
                  handled.add(message.payload());
                  return Outcome.done();
                },
                Consumer.QUICK.withHandlers(1))) {
      Await.until(messages + " are handled", () -> handled.size() >= messages);
      running.stop();
    }
    return handled;
  }

  @Test
  void eachWayOfProducingCarriesTheBytesThroughRetryAndRewind() throws Exception {
    DynamicMessage reading = of(OLD, "sensor", "s-1", "celsius", -0.0);
    StreamHandle<DynamicMessage> readings = readings(OLD);
    readings.producer().produce(reading);
    readings.producer().produceAsync(reading).join();
    List<Outgoing<DynamicMessage>> many = new ArrayList<>();
    for (int i = 0; i < 300; i++) {
      many.add(Outgoing.of(reading));
    }
    readings.producer().produceAll(many);
    client.inTransaction(connection -> readings.producer().in(connection).produce(reading));
    assertThat(consume(new ProtobufCodec(OLD), 303)).hasSize(303).containsOnly(reading);
    assertThat(stream.rows("SELECT DISTINCT payload FROM {log}"))
        .containsExactly("\\x" + HexFormat.of().formatHex(reading.toByteArray()));
  }

  @Test
  void anOldReaderKeepsWhatItDoesNotKnowAndANewOneGetsDefaults() throws Exception {
    DynamicMessage written = of(NEW, "sensor", "s-1", "celsius", 21.5, "room", "attic");
    readings(OLD).producer().produce(of(OLD, "sensor", "s-0", "celsius", 7.25));
    readings(NEW).producer().produce(written);

    List<DynamicMessage> byNew = consume(new ProtobufCodec(NEW), 2);
    assertThat(get(byNew.get(0), "room")).isEqualTo("");
    assertThat(get(byNew.get(1), "room")).isEqualTo("attic");

    client.stream(stream.name()).group("g").rewind(io.sqlstreams.config.Start.BEGINNING);
    DynamicMessage byOld = consume(new ProtobufCodec(OLD), 2).get(1);
    assertThat(get(byOld, "celsius")).isEqualTo(21.5);
    assertThat(DynamicMessage.parseFrom(NEW, byOld.toByteArray()))
        .as("what it hands on is whole")
        .isEqualTo(written);
  }

  /** Nothing that PostgreSQL could make smaller, and then something that it can. */
  @Test
  void largePayloadsComeBackWhetherTheyCanBeCompressedOrNot() {
    byte[] noise = new byte[StreamConfig.DEFAULT_MAX_PAYLOAD_BYTES - 16];
    new Random(4711).nextBytes(noise);
    List<DynamicMessage> large =
        List.of(
            of(NEW, "picture", ByteString.copyFrom(noise)),
            of(NEW, "picture", ByteString.copyFrom(new byte[noise.length])));
    large.forEach(readings(NEW).producer()::produce);
    DynamicMessage tooLarge =
        of(NEW, "picture", ByteString.copyFrom(new byte[StreamConfig.DEFAULT_MAX_PAYLOAD_BYTES]));
    assertThatThrownBy(() -> readings(NEW).producer().produce(tooLarge))
        .isInstanceOf(InvalidInputException.class)
        .hasMessageContaining("the stream's limit is 16777216");
    assertThat(consume(new ProtobufCodec(NEW), 2)).isEqualTo(large);
    assertThat(stream.longs("SELECT pg_column_size(payload) FROM {log} ORDER BY id"))
        .satisfies(sizes -> assertThat(sizes.get(0)).isGreaterThanOrEqualTo(noise.length))
        .satisfies(sizes -> assertThat(sizes.get(1)).isLessThan(noise.length / 10));
  }

  @Test
  void whatCanNotBeReadWaitsWithItsBytesUntilTheCodecIsMended() {
    DynamicMessage good = of(OLD, "sensor", "s-1");
    byte[] cutOff = java.util.Arrays.copyOf(good.toByteArray(), 3);
    readings(OLD).producer().produce(good);
    long bad = client.stream(stream.name()).producer().produce(RawPayload.of(cutOff)).id();
    readings(OLD).producer().produce(good);
    List<DynamicMessage> handled = consume(new ProtobufCodec(OLD), 2);
    assertThat(handled).containsExactly(good, good);
    assertThat(stream.rows("SELECT message_id, status, last_error FROM {queue}"))
        .containsExactly(
            bad
                + "|dead|the payload can't be read: "
                + InvalidProtocolBufferException.class.getName());
    assertThat(stream.rows("SELECT payload FROM {log} WHERE id = " + bad))
        .containsExactly("\\x" + HexFormat.of().formatHex(cutOff));

    assertThat(
            client.stream(stream.name())
                .group("g")
                .exceptions()
                .redrive(ExceptionFilter.dead(), 10))
        .isEqualTo(1);
    PayloadCodec<DynamicMessage> mended =
        new PayloadCodec<>() {
          @Override
          public byte[] encode(DynamicMessage payload) {
            return payload.toByteArray();
          }

          @Override
          public DynamicMessage decode(byte[] bytes) throws InvalidProtocolBufferException {
            return bytes.length == cutOff.length
                ? of(OLD, "sensor", "cut off")
                : DynamicMessage.parseFrom(OLD, bytes);
          }
        };
    assertThat(consume(mended, 1)).containsExactly(of(OLD, "sensor", "cut off"));
    stream.awaitSettled();
    assertThat(stream.number("SELECT count(*) FROM {queue}")).isZero();
  }
}
