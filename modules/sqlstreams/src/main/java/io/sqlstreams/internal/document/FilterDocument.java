package io.sqlstreams.internal.document;

import io.sqlstreams.config.ExceptionFilter;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** A filter on the exception queue as {@code operation_log.detail} keeps it. */
public final class FilterDocument {
  private static final ExceptionFilter ALL = ExceptionFilter.all();

  private FilterDocument() {}

  /** The conditions of this filter; one that every message meets isn't there. */
  public static String write(ExceptionFilter filter) {
    ObjectNode document = JsonMapper.shared().createObjectNode();
    if (!filter.statuses().equals(ALL.statuses())) {
      ArrayNode statuses = document.putArray("statuses");
      filter.statuses().forEach(status -> statuses.add(status.sqlName()));
    }
    if (filter.messageKey() != null) {
      document.put("message_key", filter.messageKey());
    }
    if (filter.firstId() != ALL.firstId()) {
      document.put("first_id", filter.firstId());
    }
    if (filter.lastId() != ALL.lastId()) {
      document.put("last_id", filter.lastId());
    }
    if (filter.errorContains() != null) {
      document.put("error_contains", filter.errorContains());
    }
    if (filter.createdFrom() != null) {
      document.put("created_from", filter.createdFrom().toString());
    }
    if (filter.createdBefore() != null) {
      document.put("created_before", filter.createdBefore().toString());
    }
    return JsonMapper.shared().writeValueAsString(document);
  }
}
