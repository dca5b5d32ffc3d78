package io.sqlstreams.test;

import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.util.List;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionConfigurationException;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ExtensionContext.Namespace;
import org.junit.jupiter.api.extension.ExtensionContext.Store;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;
import org.junit.jupiter.api.extension.TestInstancePostProcessor;
import org.junit.platform.commons.support.HierarchyTraversalMode;
import org.junit.platform.commons.support.ReflectionSupport;

/**
 * Injects a {@link TestDatabase} into fields, static or not, and parameters of that type.
 *
 * <p>A test class and its {@code @Nested} classes share one; two test classes never do, so they may
 * run at the same time. The schema is dropped after the last test of the class, unless the system
 * property {@value #KEEP_PROPERTY} is {@code true}. The drop waits {@value
 * TestDatabase#DROP_LOCK_TIMEOUT_SECONDS} seconds for locks and then fails the class: a test that
 * leaves a transaction open is told so.
 *
 * <p>The server starts with the first class that needs it: see {@link TestPostgres}. Needs JUnit
 * Jupiter 5.13 or newer.
 */
public final class PostgresExtension
    implements BeforeAllCallback, TestInstancePostProcessor, ParameterResolver {

  /** The system property that, when {@code true}, keeps the schemas and the server's log. */
  public static final String KEEP_PROPERTY = "sqlstreams.test.keep";

  private static final Namespace NAMESPACE = Namespace.create(PostgresExtension.class);
  private static final Object LOCK = new Object();

  /** For JUnit, which makes the instances. */
  public PostgresExtension() {}

  @Override
  public void beforeAll(ExtensionContext context) throws IllegalAccessException {
    inject(context.getRequiredTestClass(), null, context);
  }

  @Override
  public void postProcessTestInstance(Object instance, ExtensionContext context)
      throws IllegalAccessException {
    inject(instance.getClass(), instance, context);
  }

  @Override
  public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
    return parameter.getParameter().getType() == TestDatabase.class;
  }

  @Override
  public Object resolveParameter(ParameterContext parameter, ExtensionContext context) {
    return database(context);
  }

  private static void inject(Class<?> type, @Nullable Object instance, ExtensionContext context)
      throws IllegalAccessException {
    boolean isStatic = instance == null;
    Predicate<Field> wanted =
        field ->
            field.getType() == TestDatabase.class
                && Modifier.isStatic(field.getModifiers()) == isStatic;
    List<Field> fields =
        ReflectionSupport.findFields(type, wanted, HierarchyTraversalMode.TOP_DOWN);
    for (Field field : fields) {
      if (Modifier.isFinal(field.getModifiers())) {
        throw new ExtensionConfigurationException(
            "The field "
                + field
                + " is final: a TestDatabase can't be injected. Remove the modifier.");
      }
      field.setAccessible(true);
      field.set(instance, database(context));
    }
  }

  /** The database of the outermost test class around the context; made on first use. */
  private static TestDatabase database(ExtensionContext context) {
    ExtensionContext outermost = outermostClass(context);
    Store store = outermost.getStore(NAMESPACE);
    synchronized (LOCK) {
      ClassDatabase stored = store.get(ClassDatabase.class, ClassDatabase.class);
      if (stored == null) {
        String name = outermost.getRequiredTestClass().getSimpleName();
        stored = new ClassDatabase(TestPostgres.get().newDatabase(name));
        store.put(ClassDatabase.class, stored);
      }
      return stored.database();
    }
  }

  private static ExtensionContext outermostClass(ExtensionContext context) {
    ExtensionContext outermost = context;
    while (outermost.getParent().filter(parent -> parent.getTestClass().isPresent()).isPresent()) {
      outermost = outermost.getParent().orElseThrow();
    }
    return outermost;
  }

  /** Closed by JUnit after the class and after all of its {@code @AfterAll} methods. */
  private record ClassDatabase(TestDatabase database) implements AutoCloseable {
    @Override
    public void close() {
      if (!Boolean.getBoolean(KEEP_PROPERTY)) {
        database.dropSchema();
      }
    }
  }
}
