package io.sqlstreams.internal.lifecycle;

import java.lang.reflect.Method;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * Threads for the user's handlers: virtual where the runtime has them (Java 21 and above), else
 * daemon threads. Reached by reflection, since the library is compiled for Java 17.
 */
public final class HandlerThreads {
  private static final @Nullable Method OF_VIRTUAL = find("java.lang.Thread", "ofVirtual");
  private static final @Nullable Method UNSTARTED =
      find("java.lang.Thread$Builder", "unstarted", Runnable.class);

  private HandlerThreads() {}

  /** Makes threads with this name and a number: virtual ones where there are. */
  public static ThreadFactory named(String prefix) {
    return numbered(prefix, HandlerThreads::unstarted);
  }

  /** Makes daemon threads of the platform with this name and a number. */
  public static ThreadFactory platform(String prefix) {
    return numbered(prefix, HandlerThreads::daemon);
  }

  private static ThreadFactory numbered(String prefix, ThreadFactory threads) {
    AtomicLong number = new AtomicLong();
    return task -> {
      Thread thread = threads.newThread(task);
      thread.setName(prefix + number.incrementAndGet());
      return thread;
    };
  }

  private static Thread unstarted(Runnable task) {
    if (OF_VIRTUAL != null && UNSTARTED != null) {
      try {
        return (Thread) UNSTARTED.invoke(OF_VIRTUAL.invoke(null), task);
      } catch (ReflectiveOperationException e) {
        throw new IllegalStateException("this runtime's virtual threads can't be made", e);
      }
    }
    return daemon(task);
  }

  private static Thread daemon(Runnable task) {
    Thread thread = new Thread(task);
    thread.setDaemon(true);
    return thread;
  }

  private static @Nullable Method find(String type, String method, Class<?>... parameters) {
    if (Runtime.version().feature() < 21) {
      return null;
    }
    try {
      return Class.forName(type).getMethod(method, parameters);
    } catch (ReflectiveOperationException e) {
      return null;
    }
  }
}
