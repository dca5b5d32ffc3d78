package io.sqlstreams.bench.scenario;

import io.sqlstreams.Outgoing;
import io.sqlstreams.StreamHandle;
import io.sqlstreams.bench.load.Order;
import io.sqlstreams.bench.load.PayloadForm;
import java.util.ArrayList;
import java.util.List;

/**
 * A new stream and what is sent to it.
 *
 * @param stream a registered stream with nothing in it
 * @param payloads what is sent, again and again
 * @param <T> the payload's type
 */
record Cargo<T>(StreamHandle<T> stream, List<T> payloads) {
  /** Registers a stream for payloads of this form. */
  static Cargo<?> register(Workbench bench, String name, PayloadForm form) {
    Cargo<?> cargo =
        switch (form) {
          case TYPED ->
              new Cargo<>(bench.client().stream(name, Order.class), bench.payloads().typed());
          case RAW -> new Cargo<>(bench.client().stream(name), bench.payloads().raw());
        };
    cargo.stream().register(bench.streamConfig());
    return cargo;
  }

  /** One payload. */
  T one(long number) {
    return payloads.get((int) (number % payloads.size()));
  }

  /** So many payloads for one call. */
  List<Outgoing<T>> batch(int size, Keys keys) {
    List<Outgoing<T>> batch = new ArrayList<>(size);
    for (int i = 0; i < size; i++) {
      batch.add(Outgoing.of(one(i), keys.next()));
    }
    return batch;
  }
}
