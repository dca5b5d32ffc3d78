package io.sqlstreams.bench.scenario;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** How much room a log takes, second by second. Thread-safe. */
final class Disk {
  private static final int MIB = 20;
  private final List<Long> bytes = new ArrayList<>();

  synchronized void add(long size) {
    bytes.add(size);
  }

  /** Puts the most of the second and of the last third of the time into the notes, in MiB. */
  synchronized void tell(Map<String, Long> notes) {
    int third = bytes.size() / 3;
    notes.put("diskSecondThirdMib", most(bytes.subList(third, 2 * third)));
    notes.put("diskLastThirdMib", most(bytes.subList(2 * third, bytes.size())));
    notes.put("diskEndMib", bytes.isEmpty() ? 0 : bytes.get(bytes.size() - 1) >> MIB);
  }

  private static long most(List<Long> sizes) {
    return sizes.stream().mapToLong(Long::longValue).max().orElse(0) >> MIB;
  }
}
