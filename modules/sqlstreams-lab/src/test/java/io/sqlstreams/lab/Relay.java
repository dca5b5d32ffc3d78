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
 * Stands between a client and the server, and cuts connections when a client sends a commit, or in
 * the middle of a COPY. The driver must send the text each time: {@link #dataSource} sees to that.
 */
public final class Relay implements AutoCloseable {
  /** Where the connection is cut. */
  public enum Cut {
    /** The server gets the commit, but its answer doesn't reach the client. */
    AFTER_COMMIT,
    /** The server never gets the commit. */
    BEFORE_COMMIT
  }

  private enum Action {
    AFTER_COMMIT,
    BEFORE_COMMIT,
    /** The client is cut before its commit, and the server isn't told. */
    UNNOTICED,
    IN_COPY
  }

  /** The command, or the answer to it, and not the name of an isolation level. */
  private static final String COMMIT = "COMMIT\0";

  private static final String COPY = "FROM STDIN";

  /** How CancelRequest begins: its length, and 80877102 as its kind. */
  private static final String CANCEL = "\0\0\0\u0010\u0004\u00d2\u0016\u002e";

  private final URI server;
  private final String url;
  private final ServerSocket listener = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
  private final AtomicInteger cuts = new AtomicInteger();
  private final AtomicInteger left = new AtomicInteger();
  private final CountDownLatch closed = new CountDownLatch(1);
  private volatile Action action = Action.AFTER_COMMIT;
  private volatile String marker = "";
  private final AtomicInteger cancels = new AtomicInteger();
  private volatile CountDownLatch cancelGate = new CountDownLatch(0);
  private volatile int copyBytes;

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
    cut(Action.valueOf(kind.name()), commits, after);
  }

  /**
   * Cuts the clients of the next commits before these reach the server, which goes on waiting for
   * them until this relay is closed.
   */
  public void cutUnnoticed(int commits) {
    cut(Action.UNNOTICED, commits, "");
  }

  /** Cuts the connections of the next COPYs once they have sent this many bytes of rows. */
  public void cutInCopy(int copies, int bytes) {
    copyBytes = bytes;
    cut(Action.IN_COPY, copies, "");
  }

  private void cut(Action action, int times, String after) {
    this.action = action;
    this.marker = after;
    left.set(times);
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

    /** Bytes since the last COPY began; below 0 before the first. */
    private long copied = -1;

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
          if (isInCopy(text) && action == Action.IN_COPY && takeCut()) {
            out.write(buffer, 0, read / 2);
            return;
          }
          marked |= text.contains(marker);
          boolean commits = marked && text.contains(COMMIT);
          if (commits && action != Action.IN_COPY && takeCut()) {
            if (action == Action.BEFORE_COMMIT) {
              return;
            }
            muted = true;
            if (action == Action.UNNOTICED) {
              out.write(buffer, 0, text.indexOf(COMMIT));
              client.close();
              closed.await();
              return;
            }
          }
          marked &= !commits;
          out.write(buffer, 0, read);
        }
      } catch (IOException e) {
        // the other end is gone
      } catch (InterruptedException e) {
        throw new IllegalStateException("nobody interrupts it", e);
      }
    }

    private boolean takeCut() {
      boolean taken = left.getAndUpdate(n -> Math.max(0, n - 1)) > 0;
      if (taken) {
        cuts.incrementAndGet();
      }
      return taken;
    }

    /** Whether it has sent as much of a COPY as is wanted before the cut. */
    private boolean isInCopy(String text) {
      if (text.contains(COPY)) {
        copied = 0;
      } else if (copied >= 0) {
        copied += text.length();
      }
      return copied > copyBytes;
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
    closed.countDown();
    try {
      listener.close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
