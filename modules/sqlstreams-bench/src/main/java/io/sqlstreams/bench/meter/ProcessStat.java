package io.sqlstreams.bench.meter;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * A process as Linux tells of it in {@code /proc/<pid>/stat} (manual page proc_pid_stat).
 *
 * @param pid its number
 * @param command its program
 * @param parent the number of the process that started it
 * @param ownTicks its own processor time, in ticks
 * @param reapedTicks that of its children that have ended, in ticks
 */
record ProcessStat(long pid, String command, long parent, long ownTicks, long reapedTicks) {
  /** A hundredth of a second, on every Linux that PostgreSQL's packages are built for. */
  static final double TICKS_PER_SECOND = 100;

  private static final Path PROC = Path.of("/proc");

  /** Empty where there is none, or where it can't be read. */
  static Optional<ProcessStat> of(long pid) {
    try {
      return Optional.of(parse(Files.readString(PROC.resolve(Long.toString(pid)).resolve("stat"))));
    } catch (IOException | SecurityException e) {
      return Optional.empty();
    }
  }

  /** The processes that this one started and that still run. */
  List<ProcessStat> children() {
    try (Stream<Path> entries = Files.list(PROC)) {
      return entries
          .map(entry -> entry.getFileName().toString())
          .filter(name -> name.chars().allMatch(c -> c >= '0' && c <= '9'))
          .flatMap(name -> of(Long.parseLong(name)).stream())
          .filter(process -> process.parent == pid)
          .toList();
    } catch (IOException e) {
      return List.of();
    }
  }

  static ProcessStat parse(String line) {
    // the program's name may hold blanks and parentheses
    int open = line.indexOf('(');
    int close = line.lastIndexOf(')');
    String[] fields = line.substring(close + 2).trim().split(" ", -1);
    return new ProcessStat(
        Long.parseLong(line.substring(0, open).trim()),
        line.substring(open + 1, close),
        Long.parseLong(fields[1]),
        Long.parseLong(fields[11]) + Long.parseLong(fields[12]),
        Long.parseLong(fields[13]) + Long.parseLong(fields[14]));
  }
}
