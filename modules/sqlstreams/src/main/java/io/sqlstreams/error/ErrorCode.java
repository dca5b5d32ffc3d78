package io.sqlstreams.error;

/**
 * The stable codes of {@link SqlStreamsException}. A code's name and meaning never change between
 * releases.
 */
public enum ErrorCode {
  /** A value from the caller breaks a stated rule; nothing was sent to the database. */
  INVALID_INPUT(false),
  /** The schema holds no SQLStreams installation. */
  NOT_INSTALLED(false),
  /** The tables are older than this build, and have to be migrated before it can work on them. */
  MIGRATION_NEEDED(false),
  /** The tables are newer than this build understands. */
  BUILD_TOO_OLD(false),
  /** The named stream isn't registered. */
  STREAM_NOT_FOUND(false),
  /** The named consumer group isn't registered on the stream. */
  GROUP_NOT_FOUND(false),
  /** The system or stream has no worker of this name. */
  WORKER_NOT_FOUND(false),
  /** The worker is suspended already, or isn't. */
  WORKER_STATE(false),
  /** The named schedule isn't registered. */
  SCHEDULE_NOT_FOUND(false),
  /** A declaration differs from the registered one in a setting that is fixed at creation. */
  CONFLICTING_DECLARATION(false),
  /** A place in a stream lies below the oldest message that the stream still holds. */
  NOT_RETAINED(false),
  /** A stored message has another schema version than the caller's, or can't be decoded. */
  UNREADABLE_MESSAGE(false),
  /** Destroying wasn't allowed on this client. */
  DESTROY_NOT_ALLOWED(false),
  /** No connection to the database could be had. */
  DATABASE_UNREACHABLE(true),
  /** The database role lacks a privilege. */
  PERMISSION_DENIED(false),
  /** The connection broke while a commit was under way: it may or may not have happened. */
  OUTCOME_UNKNOWN(false),
  /**
   * The database gave way to another transaction (deadlock, serialization failure, lock timeout).
   */
  CONTENTION(true),
  /** The database refused a statement for any other reason. */
  DATABASE_ERROR(false),
  /** The client or this part of it is closed. */
  CLOSED(false);

  private final boolean retryable;

  ErrorCode(boolean retryable) {
    this.retryable = retryable;
  }

  /** Whether the same call can succeed later without any change by the caller. */
  public boolean retryable() {
    return retryable;
  }
}
