package io.sqlstreams.internal.wake;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import javax.sql.DataSource;
import org.postgresql.PGConnection;

/**
 * Connections as a pooler between gives them: the driver knows another session than the server's.
 */
final class PooledDataSource {
  private PooledDataSource() {}

  static DataSource of(DataSource source) {
    return proxy(
        DataSource.class,
        source,
        (method, result) ->
            result instanceof Connection connection
                ? proxy(
                    Connection.class,
                    connection,
                    (called, unwrapped) ->
                        unwrapped instanceof PGConnection driver && called.equals("unwrap")
                            ? proxy(
                                PGConnection.class,
                                driver,
                                (asked, answer) ->
                                    asked.equals("getBackendPID") ? Integer.valueOf(-1) : answer)
                            : unwrapped)
                : result);
  }

  private interface Change {
    Object of(String method, Object result);
  }

  private static <T> T proxy(Class<T> type, T target, Change change) {
    return type.cast(
        Proxy.newProxyInstance(
            type.getClassLoader(),
            new Class<?>[] {type},
            (self, method, arguments) -> {
              try {
                return change.of(method.getName(), method.invoke(target, arguments));
              } catch (InvocationTargetException e) {
                throw e.getCause();
              }
            }));
  }
}
