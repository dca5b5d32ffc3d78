package io.sqlstreams.config;

/**
 * The type of a stream's payload column. It is chosen when the stream is created and then fixed.
 */
public enum PayloadType {
  /**
   * JSON text, given back byte for byte: numbers keep every digit, keys their order. The default.
   */
  JSON("json"),
  /**
   * PostgreSQL's parsed form, for payload queries with GIN indexes. It keeps every digit of a
   * number up to the range of {@code numeric}, trailing zeros included, and writes exponents out.
   * It keeps neither white space nor the order of keys nor the sign of {@code -0.0}, and of equal
   * keys the last one alone.
   */
  JSONB("jsonb"),
  /** Any bytes: Avro, Protobuf, or anything else. */
  BYTEA("bytea");

  private final String sqlName;

  PayloadType(String sqlName) {
    this.sqlName = sqlName;
  }

  /** PostgreSQL's name of the type. */
  public String sqlName() {
    return sqlName;
  }
}
