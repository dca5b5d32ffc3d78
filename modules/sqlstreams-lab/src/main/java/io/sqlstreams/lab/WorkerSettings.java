package io.sqlstreams.lab;

import java.util.List;

/**
 * What a {@link WorkerProcess} is to do.
 *
 * @param url the database's JDBC URL
 * @param schema the installation's schema
 * @param stream the stream's name
 * @param group the group's name
 * @param ledger the path of its ledger
 * @param handlers how many messages at a time
 * @param maxClaim the most messages of one claim
 * @param leaseMillis its lease
 * @param handleMillis how long it takes for a message
 * @param poison the id of a message that ends the process at once; 0 for none
 * @param kind what it does with a message
 */
public record WorkerSettings(
    String url,
    String schema,
    String stream,
    String group,
    String ledger,
    int handlers,
    int maxClaim,
    long leaseMillis,
    long handleMillis,
    long poison,
    Kind kind) {
  /** What a worker does with a message. */
  public enum Kind {
    /** Writes it to its ledger. */
    LEDGER,
    /** Inserts its id into the table {@code effects}, in the message's transaction. */
    EFFECTS,
    /** Does what the message's {@link Script} says, and writes down its begin and its end. */
    SCRIPT,
    /** The same with several messages at once. */
    SCRIPT_BATCHES,
    /** The same with an insert as for {@link #EFFECTS}. */
    SCRIPT_EFFECTS
  }

  /** The settings as arguments of the process. */
  public List<String> arguments() {
    return List.of(
        url,
        schema,
        stream,
        group,
        ledger,
        Integer.toString(handlers),
        Integer.toString(maxClaim),
        Long.toString(leaseMillis),
        Long.toString(handleMillis),
        Long.toString(poison),
        kind.name());
  }

  static WorkerSettings parse(String[] args) {
    return new WorkerSettings(
        args[0],
        args[1],
        args[2],
        args[3],
        args[4],
        Integer.parseInt(args[5]),
        Integer.parseInt(args[6]),
        Long.parseLong(args[7]),
        Long.parseLong(args[8]),
        Long.parseLong(args[9]),
        Kind.valueOf(args[10]));
  }

  /** These settings with other handlers. */
  public WorkerSettings withHandlers(int handlers, int maxClaim, long handleMillis) {
    return new WorkerSettings(
        url,
        schema,
        stream,
        group,
        ledger,
        handlers,
        maxClaim,
        leaseMillis,
        handleMillis,
        poison,
        kind);
  }

  /** These settings with a message that ends the process. */
  public WorkerSettings withPoison(long id) {
    return new WorkerSettings(
        url,
        schema,
        stream,
        group,
        ledger,
        handlers,
        maxClaim,
        leaseMillis,
        handleMillis,
        id,
        kind);
  }

  /** These settings with something else to do. */
  public WorkerSettings withKind(Kind kind) {
    return new WorkerSettings(
        url,
        schema,
        stream,
        group,
        ledger,
        handlers,
        maxClaim,
        leaseMillis,
        handleMillis,
        poison,
        kind);
  }

  /** These settings with another lease. */
  public WorkerSettings withLeaseMillis(long leaseMillis) {
    return new WorkerSettings(
        url,
        schema,
        stream,
        group,
        ledger,
        handlers,
        maxClaim,
        leaseMillis,
        handleMillis,
        poison,
        kind);
  }

  /** These settings with another place for the ledger. */
  public WorkerSettings withLedger(String ledger) {
    return new WorkerSettings(
        url,
        schema,
        stream,
        group,
        ledger,
        handlers,
        maxClaim,
        leaseMillis,
        handleMillis,
        poison,
        kind);
  }
}
