package io.sqlstreams.bench.meter;

import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * What was used between two readings. Null is what isn't known here.
 *
 * @param walBytes bytes of write-ahead log, by the whole server
 * @param statements the statements that ran in this database, by name. The server counts a BEGIN,
 *     COMMIT or LOCK that the driver has prepared only until then, so these are fewer than there
 *     were
 * @param serverCpuSeconds processor time of the server
 * @param jvmCpuSeconds processor time of this process
 * @param otherCpuSeconds processor time that neither of the two got, busy with something else
 */
public record Usage(
    long walBytes,
    @Nullable Map<String, StatementUse> statements,
    @Nullable Double serverCpuSeconds,
    double jvmCpuSeconds,
    @Nullable Double otherCpuSeconds) {

  static Usage between(Reading before, Reading after) {
    Double server = difference(before.processors().server(), after.processors().server());
    Double machine = difference(before.processors().machine(), after.processors().machine());
    double jvm = after.processors().jvm() - before.processors().jvm();
    return new Usage(
        after.walBytes() - before.walBytes(),
        difference(before.statements(), after.statements()),
        server,
        jvm,
        server == null || machine == null ? null : Math.max(0, machine - server - jvm));
  }

  /** How many statements ran; null when it isn't known. */
  public @Nullable Long statementCalls() {
    return statements == null
        ? null
        : statements.values().stream().mapToLong(StatementUse::calls).sum();
  }

  private static @Nullable Double difference(@Nullable Double before, @Nullable Double after) {
    return before == null || after == null ? null : after - before;
  }

  private static @Nullable Map<String, StatementUse> difference(
      @Nullable Map<String, StatementUse> before, @Nullable Map<String, StatementUse> after) {
    if (before == null || after == null) {
      return null;
    }
    Map<String, StatementUse> difference = new TreeMap<>();
    after.forEach(
        (name, use) -> {
          StatementUse used = use.minus(before.getOrDefault(name, new StatementUse(0, 0)));
          if (used.calls() > 0) {
            difference.put(name, used);
          }
        });
    return difference;
  }
}
