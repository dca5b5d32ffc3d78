package io.sqlstreams.lab;

import java.util.ArrayList;
import java.util.List;

/**
 * What a {@link ScriptProcess} is to do.
 *
 * @param url the database's JDBC URL
 * @param schema the installation's schema
 * @param stream the stream's name
 * @param effects the table that the transactional handler writes message ids to
 * @param ledger the path of its ledgers, one for each group; see {@link #ledger(int)}
 * @param handlers how many messages at a time for each group
 * @param maxClaim the most messages of one claim
 * @param maxBatch the most messages of one list
 * @param leaseMillis its lease
 * @param groups the groups, in the order of the scripts
 */
public record ScriptSettings(
    String url,
    String schema,
    String stream,
    String effects,
    String ledger,
    int handlers,
    int maxClaim,
    int maxBatch,
    long leaseMillis,
    List<Group> groups) {
  private static final int OTHERS = 9;

  /**
   * A group to consume for.
   *
   * @param name its name
   * @param mode how
   */
  public record Group(String name, Mode mode) {}

  /** How a group is consumed. */
  public enum Mode {
    /** One message at a time. */
    SINGLE,
    /** In lists. */
    BATCHES,
    /** With the results in the handler's own transaction. */
    TRANSACTIONAL
  }

  /** Where the attempts of this group are written down. */
  public String ledger(int group) {
    return ledger + "-" + group;
  }

  /** The settings as arguments of the process. */
  public List<String> arguments() {
    List<String> arguments =
        new ArrayList<>(
            List.of(
                url,
                schema,
                stream,
                effects,
                ledger,
                Integer.toString(handlers),
                Integer.toString(maxClaim),
                Integer.toString(maxBatch),
                Long.toString(leaseMillis)));
    groups.forEach(group -> arguments.addAll(List.of(group.name(), group.mode().name())));
    return arguments;
  }

  static ScriptSettings parse(String[] args) {
    List<Group> groups = new ArrayList<>();
    for (int i = OTHERS; i < args.length; i += 2) {
      groups.add(new Group(args[i], Mode.valueOf(args[i + 1])));
    }
    return new ScriptSettings(
        args[0],
        args[1],
        args[2],
        args[3],
        args[4],
        Integer.parseInt(args[5]),
        Integer.parseInt(args[6]),
        Integer.parseInt(args[7]),
        Long.parseLong(args[8]),
        List.copyOf(groups));
  }

  /** These settings with another place for the ledgers. */
  public ScriptSettings withLedger(String ledger) {
    return new ScriptSettings(
        url, schema, stream, effects, ledger, handlers, maxClaim, maxBatch, leaseMillis, groups);
  }
}
