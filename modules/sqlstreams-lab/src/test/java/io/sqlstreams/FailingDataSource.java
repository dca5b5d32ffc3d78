package io.sqlstreams;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.Statement;
import javax.sql.DataSource;

/**
 * Connections on which a named script fails on the server, after its last command has been carried
 * out and before anything that follows.
 */
final class FailingDataSource {
  private FailingDataSource() {}

  /**
   * @param name the script's name, from its first line
   */
  static DataSource after(String name, DataSource source) {
    return proxy(
        DataSource.class,
        source,
        result -> result instanceof Connection connection ? failing(name, connection) : result,
        arguments -> arguments);
  }

  private static Connection failing(String name, Connection connection) {
    return proxy(
        Connection.class,
        connection,
        result ->
            result instanceof Statement statement
                    && result.getClass().getSimpleName().equals("PgStatement")
                ? failing(name, statement)
                : result,
        arguments -> arguments);
  }

  private static Statement failing(String name, Statement statement) {
    return proxy(
        Statement.class,
        statement,
        result -> result,
        arguments ->
            arguments != null
                    && arguments[0] instanceof String sql
                    && sql.contains("/* " + name + " */")
                ? new Object[] {sql + ";\nSELECT 1 / 0"}
                : arguments);
  }

  private interface Change {
    Object of(Object value);
  }

  private interface ArgumentsChange {
    Object[] of(Object[] arguments);
  }

  private static <T> T proxy(Class<T> type, T target, Change result, ArgumentsChange arguments) {
    return type.cast(
        Proxy.newProxyInstance(
            type.getClassLoader(),
            new Class<?>[] {type},
            (self, method, values) -> {
              try {
                return result.of(method.invoke(target, arguments.of(values)));
              } catch (InvocationTargetException e) {
                throw e.getCause();
              }
            }));
  }
}
