package io.sqlstreams.config;

/** What a database role is to do with an installation. */
public enum AccessRole {
  /**
   * Owns the schema and everything in it: installs, registers streams, migrates, destroys. The
   * other roles need none of its rights.
   */
  INSTALLER,
  /**
   * Produces, consumes, registers groups, works on deliveries by hand. It creates nothing, so the
   * partitions of the logs are created by another role.
   */
  APPLICATION,
  /**
   * Only produces. It can read the log of its streams, since a message that is sent again is
   * compared with its original.
   */
  PRODUCER,
  /** Only looks at settings, positions and counts. It can read no payloads. */
  MONITOR,
  /**
   * Keeps the tables in order with the rights of their owner: creates the partitions that will be
   * needed and drops those that have run out, for processes that run {@code
   * client.manager().run()}.
   */
  MAINTENANCE
}
