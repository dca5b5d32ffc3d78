package io.sqlstreams.internal.fleet;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.sql.DataSource;

/** A source of connections that writes down the names of the statements prepared on them. */
final class CountingSource {
  private static final Pattern NAME = Pattern.compile("/\\* (\\w+) \\*/");

  private final DataSource dataSource;
  private final List<String> statements = new CopyOnWriteArrayList<>();

  CountingSource(DataSource source) {
    this.dataSource =
        wrap(
            DataSource.class,
            source,
            (name, args, result) ->
                result instanceof Connection connection ? counted(connection) : result);
  }

  DataSource dataSource() {
    return dataSource;
  }

  /** The names of the statements so far. */
  List<String> statements() {
    return statements;
  }

  private Connection counted(Connection connection) {
    return wrap(
        Connection.class,
        connection,
        (name, args, result) -> {
          if (name.equals("prepareStatement")) {
            Matcher statement = NAME.matcher((String) args[0]);
            statements.add(statement.find() ? statement.group(1) : (String) args[0]);
          }
          return result;
        });
  }

  private interface Result {
    Object of(String method, Object[] args, Object result);
  }

  private static <T> T wrap(Class<T> type, T target, Result result) {
    return type.cast(
        Proxy.newProxyInstance(
            CountingSource.class.getClassLoader(),
            new Class<?>[] {type},
            (proxy, method, args) -> {
              try {
                return result.of(method.getName(), args, method.invoke(target, args));
              } catch (InvocationTargetException e) {
                throw e.getCause();
              }
            }));
  }
}
