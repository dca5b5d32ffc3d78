package io.sqlstreams.cli;

import io.sqlstreams.ConsumerGroup;
import io.sqlstreams.GroupInfo;
import io.sqlstreams.SqlStreams;
import io.sqlstreams.codec.RawPayload;
import io.sqlstreams.error.GroupNotFoundException;
import picocli.CommandLine.Parameters;

/** Which group a verb is about: the stream's name, then its own. */
final class GroupName {
  @Parameters(index = "0", paramLabel = "STREAM", description = "The stream's name.")
  private String stream = "";

  @Parameters(index = "1", paramLabel = "GROUP", description = "The group's name.")
  private String group = "";

  String stream() {
    return stream;
  }

  String group() {
    return group;
  }

  /** The group's handle. */
  ConsumerGroup<RawPayload> of(SqlStreams client) {
    return client.stream(stream).group(group);
  }

  /**
   * The group as it is registered.
   *
   * @throws GroupNotFoundException when it isn't
   */
  GroupInfo require(SqlStreams client) {
    return of(client).get().orElseThrow(() -> new GroupNotFoundException(stream, group));
  }

  @Override
  public String toString() {
    return "group \"" + group + "\" of stream \"" + stream + "\"";
  }
}
