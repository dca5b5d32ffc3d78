package io.sqlstreams.test;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * Gives a JUnit test class a PostgreSQL server and a schema of its own, as a {@link TestDatabase}.
 *
 * <pre>{@code
 * @SqlStreamsTest
 * class OrdersIT {
 *   TestDatabase database; // injected, as is a parameter of this type
 *
 *   @Test
 *   void ordersArrive() {
 *     try (SqlStreams client =
 *         SqlStreams.builder(database.dataSource()).schema(database.schema()).build()) {
 *       // ...
 *     }
 *   }
 * }
 * }</pre>
 *
 * @see PostgresExtension
 */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@Documented
@Inherited
@ExtendWith(PostgresExtension.class)
public @interface SqlStreamsTest {}
