package io.sqlstreams.bench.meter;

import com.sun.management.OperatingSystemMXBean;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Processor time so far, in seconds.
 *
 * @param jvm of this process
 * @param server of all processes of the server; null where they can't be seen
 * @param machine of everything that runs here, the time that a hypervisor took included; null where
 *     it isn't told
 */
record ProcessorTime(double jvm, @Nullable Double server, @Nullable Double machine) {
  private static final double NANOS_PER_SECOND = 1e9;

  /**
   * The columns of the first line of /proc/stat that aren't busy: idle, iowait. Those after steal
   * are counted twice.
   */
  private static final int STEAL = 8;

  private static final int IDLE = 4;
  private static final int IO_WAIT = 5;

  static ProcessorTime now(@Nullable Long postmaster) {
    OperatingSystemMXBean system =
        (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
    return new ProcessorTime(
        system.getProcessCpuTime() / NANOS_PER_SECOND,
        postmaster == null ? null : readServer(postmaster),
        readMachine());
  }

  /**
   * The process that started this backend, when both are seen here and are PostgreSQL's.
   *
   * @param backend the number of the process that serves a connection, as the server tells it
   */
  static @Nullable Long postmasterOf(long backend) {
    Optional<ProcessStat> parent =
        ProcessStat.of(backend)
            .filter(process -> process.command().equals("postgres"))
            .flatMap(process -> ProcessStat.of(process.parent()))
            .filter(process -> process.command().equals("postgres"));
    return parent.map(ProcessStat::pid).orElse(null);
  }

  /** Those that ended are in the postmaster's account, so the sum never falls. */
  private static @Nullable Double readServer(long postmaster) {
    ProcessStat process = ProcessStat.of(postmaster).orElse(null);
    if (process == null) {
      return null;
    }
    long ticks = process.ownTicks() + process.reapedTicks();
    for (ProcessStat child : process.children()) {
      ticks += child.ownTicks() + child.reapedTicks();
    }
    return ticks / ProcessStat.TICKS_PER_SECOND;
  }

  private static @Nullable Double readMachine() {
    try {
      String all = Files.readString(Path.of("/proc/stat"));
      String[] columns = all.substring(0, all.indexOf('\n')).split(" +", -1);
      long busy = 0;
      for (int i = 1; i <= STEAL; i++) {
        busy += i == IDLE || i == IO_WAIT ? 0 : Long.parseLong(columns[i]);
      }
      return busy / ProcessStat.TICKS_PER_SECOND;
    } catch (IOException | RuntimeException e) {
      return null;
    }
  }
}
