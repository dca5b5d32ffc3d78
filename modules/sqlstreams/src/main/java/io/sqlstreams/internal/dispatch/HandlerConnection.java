package io.sqlstreams.internal.dispatch;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The connection that a transactional handler is given: a plain one, but for the end of its
 * transaction, which isn't the handler's.
 */
final class HandlerConnection implements InvocationHandler {
  private static final Set<String> REFUSED =
      Set.of("commit", "setAutoCommit", "setTransactionIsolation", "setReadOnly", "abort");

  private final Connection connection;
  private final Connection guarded;
  private volatile boolean revoked;

  HandlerConnection(Connection connection) {
    this.connection = connection;
    this.guarded =
        (Connection)
            Proxy.newProxyInstance(
                HandlerConnection.class.getClassLoader(), new Class<?>[] {Connection.class}, this);
  }

  /** The connection as the handler sees it. */
  Connection guarded() {
    return guarded;
  }

  /** From now on it is refused. */
  void revoke() {
    revoked = true;
  }

  @Override
  public @Nullable Object invoke(Object proxy, Method method, @Nullable Object @Nullable [] args)
      throws Throwable {
    String name = method.getName();
    if (method.getDeclaringClass() == Object.class) {
      return ofObject(proxy, name, args);
    }
    if (name.equals("close")) {
      return null;
    }
    if (name.equals("isClosed") && revoked) {
      return true;
    }
    if (revoked) {
      throw new SQLException(
          "this connection was the handler's for one message, and that has ended", "55000");
    }
    if (REFUSED.contains(name) || (name.equals("rollback") && args == null)) {
      throw new SQLException(
          name
              + " isn't the handler's: the transaction also records the result of the message;"
              + " return an outcome, or throw, to end it",
          "25000");
    }
    try {
      return method.invoke(connection, args);
    } catch (InvocationTargetException e) {
      throw e.getCause() == null ? e : e.getCause();
    }
  }

  private Object ofObject(Object proxy, String name, @Nullable Object @Nullable [] args) {
    return switch (name) {
      case "equals" -> args != null && proxy == args[0];
      case "hashCode" -> System.identityHashCode(proxy);
      default -> "connection of a message's transaction";
    };
  }
}
