package io.sqlstreams.lab;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.sql.DataSource;

/** A source of connections that counts what is prepared on them, by the statements' names. */
public final class Counted {
  private static final Pattern NAME = Pattern.compile("/\\* (\\w+) \\*/");

  private final DataSource dataSource;
  private final Map<String, AtomicLong> calls = new ConcurrentHashMap<>();

  public Counted(DataSource source) {
    this.dataSource =
        proxy(
            DataSource.class,
            source,
            (method, arguments, result) ->
                result instanceof Connection connection ? counting(connection) : result);
  }

  public DataSource dataSource() {
    return dataSource;
  }

  /** How often this statement was prepared. */
  public long calls(String name) {
    AtomicLong counted = calls.get(name);
    return counted == null ? 0 : counted.get();
  }

  /** How often each was. */
  public Map<String, Long> calls() {
    Map<String, Long> all = new HashMap<>();
    calls.forEach((name, counted) -> all.put(name, counted.get()));
    return all;
  }

  /** Waits until this statement was prepared so many times more. */
  public void awaitMore(String name, long more) {
    long before = calls(name);
    Await.until(name + " ran " + more + " times", () -> calls(name) >= before + more);
  }

  private Connection counting(Connection connection) {
    return proxy(
        Connection.class,
        connection,
        (method, arguments, result) -> {
          if (method.equals("prepareStatement")) {
            count((String) arguments[0]);
          }
          return result;
        });
  }

  private void count(String sql) {
    Matcher name = NAME.matcher(sql);
    calls
        .computeIfAbsent(name.find() ? name.group(1) : sql, key -> new AtomicLong())
        .incrementAndGet();
  }

  private interface Seen {
    Object result(String method, Object[] arguments, Object result);
  }

  private static <T> T proxy(Class<T> type, T target, Seen seen) {
    return type.cast(
        Proxy.newProxyInstance(
            type.getClassLoader(),
            new Class<?>[] {type},
            (self, method, arguments) -> {
              try {
                return seen.result(method.getName(), arguments, method.invoke(target, arguments));
              } catch (InvocationTargetException e) {
                throw e.getCause();
              }
            }));
  }
}
