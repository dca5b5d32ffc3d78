package io.sqlstreams.internal.fence;

import static org.assertj.core.api.Assertions.assertThat;

import io.sqlstreams.lab.StepReader;
import io.sqlstreams.lab.TestStream;
import io.sqlstreams.lab.Writers;
import io.sqlstreams.test.SqlStreamsTest;
import io.sqlstreams.test.TestDatabase;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A reader that polls without a pause against many writers: every committed id, each once, all in
 * order.
 */
@SqlStreamsTest
class FenceUnderLoadIT {
  TestDatabase database;

  @ParameterizedTest
  @ValueSource(ints = {8, 32})
  void everyCommittedIdComesInOrder(int writers) throws Exception {
    check(writers, 25_000, 0.02);
  }

  @Tag("stress")
  @ParameterizedTest
  @ValueSource(ints = {8, 32, 100})
  void everyCommittedIdComesInOrderForLonger(int writers) throws Exception {
    check(writers, 400_000, 0.02);
  }

  @Tag("stress")
  @Test
  void everyCommittedIdComesInOrderWithManyRollbacks() throws Exception {
    check(32, 100_000, 0.3);
  }

  private void check(int writers, int messages, double rollbacks) throws Exception {
    TestStream stream = TestStream.register(database);
    AtomicBoolean writing = new AtomicBoolean(true);
    List<Long> read = new ArrayList<>();
    StepReader reader = new StepReader(stream);
    Thread polling =
        new Thread(
            () -> {
              boolean last = false;
              while (!last || reader.isBehind()) {
                last = !writing.get();
                read.addAll(reader.poll());
              }
            });
    polling.start();
    new Writers(stream, writers, messages, rollbacks).run();
    writing.set(false);
    polling.join();
    List<Long> committed = stream.longs("SELECT id FROM {log} ORDER BY id");
    Set<Long> missed = new TreeSet<>(committed);
    read.forEach(missed::remove);
    assertThat(missed).as("committed, but never read").isEmpty();
    int inOrder = 0;
    while (inOrder < read.size() && read.get(inOrder).equals(committed.get(inOrder))) {
      inOrder++;
    }
    assertThat(inOrder).as("each once, in order").isEqualTo(committed.size());
    assertThat(read).hasSizeGreaterThan(messages / 2);
  }
}
