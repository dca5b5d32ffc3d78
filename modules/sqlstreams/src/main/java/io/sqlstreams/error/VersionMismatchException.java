package io.sqlstreams.error;

/**
 * The tables have another version than this build works on. Nothing was changed. {@link
 * ErrorCode#MIGRATION_NEEDED}: they are older. {@link ErrorCode#BUILD_TOO_OLD}: they are newer, and
 * no build as old as this one may work on them.
 */
public class VersionMismatchException extends SqlStreamsException {
  private static final long serialVersionUID = 1L;

  private final int databaseVersion;
  private final int buildVersion;

  private VersionMismatchException(
      ErrorCode code, String message, int databaseVersion, int buildVersion) {
    super(code, message, null);
    this.databaseVersion = databaseVersion;
    this.buildVersion = buildVersion;
  }

  /**
   * The tables are older than this build.
   *
   * @param subject whose tables, such as {@code stream "orders"}
   */
  public static VersionMismatchException older(
      String subject, int databaseVersion, int buildVersion) {
    return new VersionMismatchException(
        ErrorCode.MIGRATION_NEEDED,
        "the tables of "
            + subject
            + " are at version "
            + databaseVersion
            + ", this build needs "
            + buildVersion
            + ": run 'sqlstreams migrate up', or client.system().migrate(Migration.up()), as the role that owns them",
        databaseVersion,
        buildVersion);
  }

  /**
   * The tables are newer than this build understands.
   *
   * @param subject whose tables, such as {@code stream "orders"}
   * @param minCompatibleVersion the oldest build that may work on them
   */
  public static VersionMismatchException newer(
      String subject, int databaseVersion, int minCompatibleVersion, int buildVersion) {
    return new VersionMismatchException(
        ErrorCode.BUILD_TOO_OLD,
        "the tables of "
            + subject
            + " are at version "
            + databaseVersion
            + ", which only builds that know version "
            + minCompatibleVersion
            + " can work on, and this one knows "
            + buildVersion
            + ": use a newer release of SQLStreams",
        databaseVersion,
        buildVersion);
  }

  /** The version of the tables. */
  public int databaseVersion() {
    return databaseVersion;
  }

  /** The newest version that this build knows. */
  public int buildVersion() {
    return buildVersion;
  }
}
