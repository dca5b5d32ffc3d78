package io.sqlstreams.cli.demo;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.sqlstreams.cli.Main;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The demo as a process of its own, in three endings: by itself, told to end, and killed. */
@Timeout(value = 5, unit = TimeUnit.MINUTES, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class DemoIT {
  private static final Pattern PORT = Pattern.compile("jdbc:postgresql://localhost:(\\d+)/");

  @TempDir Path folder;

  @Test
  void nothingIsLostAndNothingIsLeft() throws Exception {
    Process demo = start();
    List<String> lines = readUntil(demo, "this never comes");
    assertThat(demo.waitFor()).isZero();
    assertThat(lines)
        .contains("lost 0")
        .anyMatch(line -> line.matches(".* killed worker audit-[12] \\(pid \\d+\\) with SIGKILL.*"))
        .anyMatch(line -> line.matches(".* group audit took over \\d+ claims .*"))
        .anyMatch(line -> line.matches("duplicates \\d+: .*"))
        .anyMatch(line -> line.contains("FROM sqlstreams.message_log_1"));
    assertThat(errors()).isEmpty();
    assertNothingIsLeft(lines);
  }

  @Test
  void toldToEndItEndsEverything() throws Exception {
    Process demo = start();
    List<String> lines = readUntil(demo, "killed worker");
    List<ProcessHandle> workers = demo.descendants().toList();
    demo.toHandle().destroy(); // unlike that of Process, it leaves the stream open
    readUntil(demo, "this never comes");
    assertThat(demo.waitFor()).isEqualTo(128 + 15);
    for (ProcessHandle worker : workers) {
      worker.onExit().get();
    }
    assertThat(errors()).isEmpty();
    assertNothingIsLeft(lines);
  }

  @Test
  void killedItTakesItsWorkersAlong() throws Exception {
    Process demo = start();
    List<String> lines = readUntil(demo, "killed worker");
    List<ProcessHandle> workers = demo.descendants().toList();
    assertThat(workers).hasSizeGreaterThanOrEqualTo(3);
    demo.destroyForcibly();
    for (ProcessHandle worker : workers) {
      worker.onExit().get();
    }
    // the server stays: nobody is there to stop it
    ProcessHandle server = servers(lines).get(0);
    Path data = Path.of(server.info().arguments().orElseThrow()[1]); // after -D
    server.destroy();
    server.onExit().get();
    Folder.delete(data);
  }

  private Process start() throws IOException {
    // temporary files of its own, but the unpacked server of all
    Path servers = Path.of(System.getProperty("java.io.tmpdir"), "embedded-pg");
    return new ProcessBuilder(
            Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "-Djava.io.tmpdir=" + Files.createDirectory(folder.resolve("tmp")),
            "-Dot.epg.working-dir=" + servers,
            "-cp",
            classPath(),
            Main.class.getName(),
            "demo",
            "--plain",
            "--messages",
            "2000")
        .redirectError(folder.resolve("err").toFile())
        .start();
  }

  /** The jar that users run where there is one, as in {@code mvn verify}. */
  private static String classPath() {
    Path jar = Path.of("target", "sqlstreams-cli.jar").toAbsolutePath();
    return Files.exists(jar) ? jar.toString() : System.getProperty("java.class.path");
  }

  private static List<String> readUntil(Process demo, String text) throws IOException {
    List<String> lines = new ArrayList<>();
    BufferedReader reader = new BufferedReader(new InputStreamReader(demo.getInputStream(), UTF_8));
    for (String line = reader.readLine(); line != null; line = reader.readLine()) {
      lines.add(line);
      if (line.contains(text)) {
        break;
      }
    }
    return lines;
  }

  private String errors() throws IOException {
    return Files.readString(folder.resolve("err"));
  }

  private void assertNothingIsLeft(List<String> lines) throws IOException {
    assertThat(ProcessHandle.allProcesses())
        .noneMatch(process -> process.info().commandLine().orElse("").contains(folder.toString()));
    assertThat(servers(lines)).isEmpty();
    assertThat(folder.resolve("tmp")).isEmptyDirectory();
  }

  /** The server processes on the port that the demo told. */
  private static List<ProcessHandle> servers(List<String> lines) {
    Matcher port = PORT.matcher(String.join("\n", lines));
    assertThat(port.find()).isTrue();
    return ProcessHandle.allProcesses()
        .filter(
            process ->
                process.info().commandLine().orElse("").contains(" -p " + port.group(1) + " "))
        .toList();
  }
}
