package io.sqlstreams.config;

/** Which tables have a version of their own. */
public enum MigrationScope {
  /** The control plane, once for each installation. */
  SYSTEM,
  /** The family of one stream; each stream is migrated by itself. */
  STREAM
}
