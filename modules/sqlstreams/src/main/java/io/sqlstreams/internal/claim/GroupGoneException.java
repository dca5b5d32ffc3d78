package io.sqlstreams.internal.claim;

import io.sqlstreams.error.ErrorCode;
import io.sqlstreams.error.SqlStreamsException;

/** The group that a session consumes for was destroyed; the session ends. */
public final class GroupGoneException extends SqlStreamsException {
  private static final long serialVersionUID = 1L;

  GroupGoneException(String subject) {
    super(ErrorCode.GROUP_NOT_FOUND, subject + " was destroyed: its consumption ends", null);
  }
}
