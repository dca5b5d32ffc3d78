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
    long poison) {

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
        Long.toString(poison));
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
        Long.parseLong(args[9]));
  }

  /** These settings with other handlers. */
  public WorkerSettings withHandlers(int handlers, int maxClaim, long handleMillis) {
    return new WorkerSettings(
        url, schema, stream, group, ledger, handlers, maxClaim, leaseMillis, handleMillis, poison);
  }

  /** These settings with a message that ends the process. */
  public WorkerSettings withPoison(long id) {
    return new WorkerSettings(
        url, schema, stream, group, ledger, handlers, maxClaim, leaseMillis, handleMillis, id);
  }
}
