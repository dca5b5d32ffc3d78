package io.sqlstreams.bench.load;

import io.sqlstreams.codec.RawPayload;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import tools.jackson.databind.json.JsonMapper;

/**
 * Payloads of exactly one size, made before anything is timed. The text in them is random, so that
 * neither the server's compression nor a cache gets it for nothing. Immutable.
 *
 * @param bytes the size of each as JSON in UTF-8
 * @param typed as objects
 * @param encoded the same ones as JSON
 * @param raw the same ones as payloads of the client
 */
public record Payloads(int bytes, List<Order> typed, List<byte[]> encoded, List<RawPayload> raw) {
  /** How many there are; they are sent again and again. */
  public static final int COUNT = 500;

  /** The smallest size that has room for the fields. */
  public static final int MIN_BYTES = 100;

  /** The largest size: some hundred of them are in memory. */
  public static final int MAX_BYTES = 1 << 20;

  private static final int BYTES_FOR_EACH_LINE = 200;
  private static final int MOST_LINES = 5;
  private static final long SEED = 20_240_601;
  private static final String ALPHABET =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789 .";

  /** Makes the payloads; the same ones in each run. */
  public static Payloads of(int bytes) {
    if (bytes < MIN_BYTES || bytes > MAX_BYTES) {
      throw new IllegalArgumentException(
          "payload size must be from " + MIN_BYTES + " to " + MAX_BYTES + " bytes, not " + bytes);
    }
    JsonMapper mapper = JsonMapper.builder().build();
    Random random = new Random(SEED);
    List<Order> typed = new ArrayList<>(COUNT);
    List<byte[]> encoded = new ArrayList<>(COUNT);
    for (int i = 0; i < COUNT; i++) {
      Order bare = order(i, bytes / BYTES_FOR_EACH_LINE, "", random);
      int room = bytes - mapper.writeValueAsBytes(bare).length;
      Order full =
          new Order(
              bare.orderId(),
              bare.customer(),
              bare.total(),
              bare.paid(),
              bare.lines(),
              text(room, random));
      typed.add(full);
      encoded.add(mapper.writeValueAsBytes(full));
    }
    return new Payloads(
        bytes,
        List.copyOf(typed),
        List.copyOf(encoded),
        encoded.stream().map(RawPayload::of).toList());
  }

  private static Order order(int number, int lines, String note, Random random) {
    return new Order(
        "o-" + number,
        "c-" + random.nextInt(10_000),
        BigDecimal.valueOf(random.nextInt(1_000_000), 2),
        random.nextBoolean(),
        IntStream.range(0, Math.min(lines, MOST_LINES))
            .mapToObj(
                line ->
                    new Order.Line(
                        "sku-" + random.nextInt(100_000),
                        1 + random.nextInt(9),
                        BigDecimal.valueOf(random.nextInt(100_000), 2)))
            .toList(),
        note);
  }

  private static String text(int length, Random random) {
    StringBuilder text = new StringBuilder(length);
    for (int i = 0; i < length; i++) {
      text.append(ALPHABET.charAt(random.nextInt(ALPHABET.length())));
    }
    return text.toString();
  }
}
