package io.sqlstreams.error;

/** The schema holds no SQLStreams installation. */
public class NotInstalledException extends SqlStreamsException {
  private static final long serialVersionUID = 1L;

  private final String schema;

  /**
   * @param schema the schema that was looked into
   */
  public NotInstalledException(String schema) {
    super(
        ErrorCode.NOT_INSTALLED,
        "there is no SQLStreams installation in schema \""
            + schema
            + "\": run client.system().register() once, or correct the schema name",
        null);
    this.schema = schema;
  }

  /** The schema that was looked into. */
  public String schema() {
    return schema;
  }
}
