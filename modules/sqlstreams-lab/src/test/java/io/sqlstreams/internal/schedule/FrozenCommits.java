package io.sqlstreams.internal.schedule;

import io.sqlstreams.internal.lifecycle.Uninterruptibly;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.util.concurrent.CountDownLatch;
import javax.sql.DataSource;

/** Connections whose commits stand still before they are sent. */
final class FrozenCommits {
  private FrozenCommits() {}

  /**
   * Connections of this source.
   *
   * @param reached is counted down when a commit is reached
   * @param thawed lets it go on
   */
  static DataSource of(DataSource source, CountDownLatch reached, CountDownLatch thawed) {
    return proxy(
        DataSource.class,
        source,
        (method, result) ->
            result instanceof Connection connection
                ? proxy(
                    Connection.class,
                    connection,
                    (name, value) -> {
                      if (name.equals("commit")) {
                        reached.countDown();
                        Uninterruptibly.run(thawed::await);
                      }
                      return value;
                    })
                : result);
  }

  /** What happens before a method of no result, or to the result of another. */
  private interface Meddling {
    Object with(String method, Object result);
  }

  private static <T> T proxy(Class<T> type, T target, Meddling meddling) {
    return type.cast(
        Proxy.newProxyInstance(
            type.getClassLoader(),
            new Class<?>[] {type},
            (self, method, arguments) -> {
              try {
                boolean isVoid = method.getReturnType() == void.class;
                if (isVoid) {
                  meddling.with(method.getName(), null);
                }
                Object result = method.invoke(target, arguments);
                return isVoid ? result : meddling.with(method.getName(), result);
              } catch (InvocationTargetException e) {
                throw e.getCause();
              }
            }));
  }
}
