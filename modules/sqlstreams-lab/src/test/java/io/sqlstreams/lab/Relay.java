package io.sqlstreams.lab;

import io.sqlstreams.internal.lifecycle.Uninterruptibly;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import javax.sql.DataSource;
import org.postgresql.ds.PGSimpleDataSource;

/**
 * Stands between a client and the server, and cuts connections when a client sends a commit. The
 * driver must send the text each time: {@link #dataSource} sees to that.
 */
public final class Relay implements AutoCloseable {
  /** Where the connection is cut. */
  public enum Cut {
    /** The server gets the commit, but its answer doesn't reach the client. */
    AFTER_COMMIT,
    /** The server never gets the commit. */
    BEFORE_COMMIT
  }

  private static final String COMMIT = "COMMIT";

  /** How CancelRequest begins: its length, and 80877102 as its kind. */
  private static final String CANCEL = "\0\0\0\u0010\u0004\u00d2\u0016\u002e";

  private final URI server;
  private final String url;
  private final ServerSocket listener = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
  private final AtomicInteger cuts = new AtomicInteger();
  private final AtomicInteger left = new AtomicInteger();
  private volatile Cut kind = Cut.AFTER_COMMIT;
  private volatile String marker = "";
  private final AtomicInteger cancels = new AtomicInteger();
  private volatile CountDownLatch cancelGate = new CountDownLatch(0);

  /**
   * @param url the server's JDBC URL
   */
  public Relay(String url) throws IOException {
    this.server = URI.create(url.substring("jdbc:".length()));
    this.url = url;
    daemon(this::accept);
  }

  /** Connections through this relay. */
  public DataSource dataSource() {
    PGSimpleDataSource source = new PGSimpleDataSource();
    source.setUrl(
        url.replace(
            server.getAuthority(),
            listener.getInetAddress().getHostAddress() + ":" + listener.getLocalPort()));
    source.setPrepareThreshold(0);
    return source;
  }

  /**
   * Cuts the connections of the next commits.
   *
   * @param after only commits of connections that have sent this text since their last one
   */
  public void cut(Cut kind, int commits, String after) {
    this.kind = kind;
    this.marker = after;
    left.set(commits);
  }

  /** From now on a request to cancel a statement goes on when this is counted down, not before. */
  public void holdCancels(CountDownLatch gate) {
    cancelGate = gate;
  }

  /** How many requests to cancel a statement have come. */
  public int cancels() {
    return cancels.get();
  }

  /** How many connections were cut. */
  public int cuts() {
    return cuts.get();
  }

  private void accept() {
    try {
      while (true) {
        Socket client = listener.accept();
        Socket target = new Socket(server.getHost(), server.getPort());
        client.setTcpNoDelay(true);
        target.setTcpNoDelay(true);
        Link link = new Link(client, target);
        daemon(link::requests);
        daemon(link::answers);
      }
    } catch (IOException e) {
      // closed
    }
  }

  private final class Link {
    private final Socket client;
    private final Socket server;
    private volatile boolean muted;
    private boolean marked;

    Link(Socket client, Socket server) {
      this.client = client;
      this.server = server;
    }

    void requests() {
      try (server;
          client) {
        InputStream in = client.getInputStream();
        OutputStream out = server.getOutputStream();
        byte[] buffer = new byte[1 << 20];
        for (int read = in.read(buffer); read >= 0; read = in.read(buffer)) {
          String text = new String(buffer, 0, read, StandardCharsets.ISO_8859_1);
          if (text.startsWith(CANCEL)) {
            cancels.incrementAndGet();
            Uninterruptibly.run(cancelGate::await);
          }
          marked |= text.contains(marker);
          boolean commits = marked && text.contains(COMMIT);
          if (commits && left.getAndUpdate(n -> Math.max(0, n - 1)) > 0) {
            cuts.incrementAndGet();
            if (kind == Cut.BEFORE_COMMIT) {
              return;
            }
            muted = true;
          }
          marked &= !commits;
          out.write(buffer, 0, read);
        }
      } catch (IOException e) {
        // the other end is gone
      }
    }

    void answers() {
      try (server;
          client) {
        InputStream in = server.getInputStream();
        OutputStream out = client.getOutputStream();
        byte[] buffer = new byte[1 << 20];
        for (int read = in.read(buffer); read >= 0; read = in.read(buffer)) {
          if (!muted) {
            out.write(buffer, 0, read);
          } else if (new String(buffer, 0, read, StandardCharsets.ISO_8859_1).contains(COMMIT)) {
            return;
          }
        }
      } catch (IOException e) {
        // the other end is gone
      }
    }
  }

  private static void daemon(Runnable task) {
    Thread thread = new Thread(task, "relay");
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
