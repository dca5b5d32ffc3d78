package io.sqlstreams.internal.produce;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;

/** Passes bytes on, and counts how often the server's turn to speak ended with the client's. */
final class CountingProxy implements AutoCloseable {
  private final String host;
  private final int target;
  private final ServerSocket listener = new ServerSocket(0);
  private final AtomicLong roundTrips = new AtomicLong();

  CountingProxy(String host, int target) throws IOException {
    this.host = host;
    this.target = target;
    daemon(this::accept);
  }

  int port() {
    return listener.getLocalPort();
  }

  long roundTrips() {
    return roundTrips.get();
  }

  private void accept() {
    try {
      while (true) {
        Socket client = listener.accept();
        Socket server = new Socket(host, target);
        client.setTcpNoDelay(true);
        server.setTcpNoDelay(true);
        AtomicBoolean clientSpoke = new AtomicBoolean();
        daemon(() -> pass(client, server, () -> clientSpoke.set(true)));
        daemon(
            () ->
                pass(
                    server,
                    client,
                    () -> {
                      if (clientSpoke.getAndSet(false)) {
                        roundTrips.incrementAndGet();
                      }
                    }));
      }
    } catch (IOException e) {
      // closed
    }
  }

  private static void pass(Socket from, Socket to, Runnable spoken) {
    try (from;
        to) {
      InputStream in = from.getInputStream();
      OutputStream out = to.getOutputStream();
      byte[] buffer = new byte[1 << 20];
      for (int read = in.read(buffer); read >= 0; read = in.read(buffer)) {
        spoken.run();
        out.write(buffer, 0, read);
      }
    } catch (IOException e) {
      // the other end is gone
    }
  }

  private static void daemon(Runnable task) {
    Thread thread = new Thread(task, "counting-proxy");
    thread.setDaemon(true);
    thread.start();
  }

  @Override
  public void close() {
    try {
      listener.close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
