package io.sqlstreams.lab;

import io.sqlstreams.test.TestDatabase;
import java.io.File;
import java.io.IOException;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import javax.sql.DataSource;
import org.postgresql.ds.PGSimpleDataSource;

/**
 * A PgBouncer in transaction mode in front of the tests' server. It isn't part of the build: where
 * the program is missing ({@code apt-get install pgbouncer}), the tests that need it are skipped.
 */
public final class PgBouncer implements AutoCloseable {
  private final Process process;
  private final int port;
  private final Path folder;

  private PgBouncer(Process process, int port, Path folder) {
    this.process = process;
    this.port = port;
    this.folder = folder;
  }

  /** Where the program is; empty when it isn't installed. */
  public static Optional<Path> program() {
    return Stream.concat(
            Stream.of(System.getenv("PATH").split(File.pathSeparator)), Stream.of("/usr/sbin"))
        .map(folder -> Path.of(folder, "pgbouncer"))
        .filter(Files::isExecutable)
        .findFirst();
  }

  /** Starts one that keeps so many connections to the server. */
  public static PgBouncer start(Path program, TestDatabase database, int serverConnections)
      throws IOException {
    URI server = URI.create(database.jdbcUrl().substring("jdbc:".length()));
    Path folder =
        Files.createTempDirectory(
            "pgbouncer",
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwxrwxrwx")));
    Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("rwxrwxrwx"));
    int port = freePort();
    Path settings = folder.resolve("pgbouncer.ini");
    Files.writeString(
        settings,
        """
        [databases]
        postgres = host=%s port=%d dbname=postgres user=postgres
        [pgbouncer]
        listen_addr = 127.0.0.1
        listen_port = %d
        unix_socket_dir =
        auth_type = any
        pool_mode = transaction
        default_pool_size = %d
        max_client_conn = 300
        ignore_startup_parameters = extra_float_digits
        """
            .formatted(server.getHost(), server.getPort(), port, serverConnections));
    Files.setPosixFilePermissions(settings, PosixFilePermissions.fromString("rw-r--r--"));
    List<String> command = new ArrayList<>(List.of(program.toString()));
    if (System.getProperty("user.name").equals("root")) {
      command.addAll(List.of("-u", "nobody")); // it refuses to be root
    }
    command.add(settings.toString());
    Process process =
        new ProcessBuilder(command)
            .redirectErrorStream(true)
            .redirectOutput(folder.resolve("log").toFile())
            .start();
    PgBouncer started = new PgBouncer(process, port, folder);
    Await.until("PgBouncer listens: " + folder.resolve("log"), started::listens);
    return started;
  }

  private boolean listens() {
    if (!process.isAlive()) {
      throw new IllegalStateException("PgBouncer has ended: see " + folder.resolve("log"));
    }
    try (Socket socket = new Socket("127.0.0.1", port)) {
      return socket.isConnected();
    } catch (IOException e) {
      return false;
    }
  }

  private static int freePort() throws IOException {
    try (ServerSocket socket = new ServerSocket(0)) {
      return socket.getLocalPort();
    }
  }

  /** Plain connections through it. */
  public DataSource dataSource() {
    PGSimpleDataSource dataSource = new PGSimpleDataSource();
    dataSource.setURL("jdbc:postgresql://127.0.0.1:" + port + "/postgres?user=postgres");
    return dataSource;
  }

  @Override
  public void close() throws IOException {
    process.destroy();
    process.onExit().join();
    try (Stream<Path> files = Files.walk(folder)) {
      files.sorted(java.util.Comparator.reverseOrder()).map(Path::toFile).forEach(File::delete);
    }
  }
}
