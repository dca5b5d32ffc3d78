package io.sqlstreams.internal.client;

import io.sqlstreams.StreamInfo;
import io.sqlstreams.internal.catalog.Catalog;
import io.sqlstreams.internal.produce.StreamResolver;
import java.sql.Connection;
import java.sql.SQLException;

/** Lets producers find their stream in the catalog. */
record CatalogResolver(Catalog catalog) implements StreamResolver {
  @Override
  public StreamInfo require(String name) {
    return catalog.requireStream(name);
  }

  @Override
  public StreamInfo require(Connection connection, String name) throws SQLException {
    return catalog.requireStream(connection, name);
  }
}
