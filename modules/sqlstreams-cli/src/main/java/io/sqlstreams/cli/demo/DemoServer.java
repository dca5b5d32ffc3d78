package io.sqlstreams.cli.demo;

import io.sqlstreams.cli.CliException;
import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

/**
 * An embedded PostgreSQL that is as durable as a real one: {@code fsync} and {@code
 * synchronous_commit} are on. Closing it stops it and deletes its data; the unpacked server stays
 * in the folder {@code embedded-pg} of the temporary files for the next time.
 *
 * <p>When this process is killed with SIGKILL, the server stays behind. Its data lies where the
 * embedding library looks for such servers: the next start of one stops and deletes it, once it is
 * ten minutes old.
 */
final class DemoServer implements AutoCloseable {
  private static final Duration START_LIMIT = Duration.ofSeconds(60);
  private static final String NAME = "postgres";

  private final EmbeddedPostgres postgres;

  private DemoServer(EmbeddedPostgres postgres) {
    this.postgres = postgres;
  }

  /**
   * @param folder for the server's log
   */
  static DemoServer start(Path folder) throws IOException {
    Path log = folder.resolve("postgres.log");
    Path data = workingFolder().resolve(folder.getFileName());
    try {
      return new DemoServer(
          EmbeddedPostgres.builder()
              .setDataDirectory(data)
              .setPGStartupWait(START_LIMIT)
              .setRegisterShutdownHook(false) // the workers have to end first
              .setOutputRedirector(Redirect.appendTo(log.toFile()))
              .setErrorRedirector(Redirect.appendTo(log.toFile()))
              .setLocaleConfig("locale", "C")
              .setServerConfig("synchronous_commit", "on") // the library's default is off
              .setServerConfig("fsync", "on") // and so is this
              .start());
    } catch (IOException | RuntimeException e) {
      Folder.delete(data);
      throw new CliException("the embedded PostgreSQL didn't start: " + lastLine(log, e), e);
    }
  }

  String jdbcUrl() {
    return postgres.getJdbcUrl(NAME, NAME);
  }

  /** The same for psql. */
  String psqlUrl() {
    return "postgresql://" + NAME + "@localhost:" + postgres.getPort() + "/" + NAME;
  }

  @Override
  public void close() throws IOException {
    postgres.close();
  }

  private static Path workingFolder() {
    return Path.of(
        System.getProperty(
            "ot.epg.working-dir",
            Path.of(System.getProperty("java.io.tmpdir"), "embedded-pg").toString()));
  }

  private static String lastLine(Path log, Exception e) throws IOException {
    List<String> lines = Files.exists(log) ? Files.readAllLines(log) : List.of();
    return lines.isEmpty() ? String.valueOf(e.getMessage()) : lines.get(lines.size() - 1);
  }
}
