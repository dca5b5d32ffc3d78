package io.sqlstreams.test;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** Next to {@link PostgresExtensionIT}: one server, and for each class a schema of its own. */
@SqlStreamsTest
class SecondPostgresExtensionIT {

  @Test
  void eachClassHasASchemaOfItsOwnOnTheOneServer(TestDatabase database) {
    assertThat(database.schema())
        .startsWith("t_secondpostgresextension"); // the other's: t_postgres
    assertThat(database.server()).isSameAs(TestPostgres.get());
  }
}
