package io.sqlstreams.internal.fleet;

import java.util.UUID;

/** A worker that this process has taken, until it is given back or lost. Thread-safe. */
final class HeldPost implements Post {
  private final long instance;
  private final String name;
  private final long worker;
  private final long owner;
  private final UUID token;

  /** When the lease ends that is certain, as {@link System#nanoTime} counts. */
  private volatile long heldUntil;

  private volatile boolean letGo;
  private volatile boolean shared;
  private long renewedAt;
  private long dueAt;
  private boolean busy;
  private int failures;
  private long restsUntil;
  private boolean unrecorded;

  /**
   * @param sentAt when the statement was sent that took it
   * @param leaseNanos how long it is held from then on
   * @param failures how often it has failed in a row, by whomever
   * @param shared whether other processes may hold the same worker
   */
  HeldPost(
      long instance,
      String name,
      long worker,
      long owner,
      UUID token,
      int failures,
      boolean shared,
      long sentAt,
      long leaseNanos) {
    this.instance = instance;
    this.name = name;
    this.worker = worker;
    this.owner = owner;
    this.token = token;
    this.failures = failures;
    this.shared = shared;
    this.restsUntil = sentAt;
    this.dueAt = sentAt;
    this.renewedAt = sentAt;
    this.heldUntil = sentAt + leaseNanos;
  }

  /**
   * What a renewal or a release writes.
   *
   * @param restNanos how long the worker isn't to run by anybody; 0 when it may
   */
  record Entry(UUID token, int failures, long restNanos) {}

  long instance() {
    return instance;
  }

  String name() {
    return name;
  }

  @Override
  public long worker() {
    return worker;
  }

  @Override
  public long owner() {
    return owner;
  }

  @Override
  public UUID token() {
    return token;
  }

  @Override
  public boolean isHeld() {
    return !letGo && System.nanoTime() - heldUntil < 0;
  }

  /** Whether other processes may hold the same worker. */
  boolean isShared() {
    return shared;
  }

  /** Others may hold it by now. */
  void share() {
    shared = true;
  }

  /** Begins no turn any more; one that runs sees it. */
  void letGo() {
    letGo = true;
  }

  /** Whether it can be given back: it is let go, and no turn runs. */
  synchronized boolean isLeaving() {
    return letGo && !busy;
  }

  /** Whether it is to be renewed when the last renewal was before this, or has news to record. */
  synchronized boolean isDueForRenewal(long renewedBefore) {
    return unrecorded || renewedAt - renewedBefore <= 0;
  }

  synchronized Entry entry() {
    long rest = failures == 0 ? 0 : Math.max(0, restsUntil - System.nanoTime());
    return new Entry(token, failures, rest);
  }

  /** It was renewed with this entry by a statement sent at this moment. */
  synchronized void renewed(Entry written, long sentAt, long leaseNanos) {
    renewedAt = sentAt;
    heldUntil = sentAt + leaseNanos;
    unrecorded &= failures != written.failures();
  }

  /** When its next turn may begin. */
  synchronized long nextTurn() {
    return failures > 0 && restsUntil - dueAt > 0 ? restsUntil : dueAt;
  }

  /** Begins a turn, if one may begin by this moment; then {@link #end} ends it. */
  synchronized boolean begin(long latest) {
    if (!isHeld() || nextTurn() - latest > 0 || isResting()) {
      return false;
    }
    busy = true;
    return true;
  }

  private boolean isResting() {
    return failures > 0 && restsUntil - System.nanoTime() > 0;
  }

  /** A turn has come to its end, and this post did well. */
  synchronized void succeeded(long nextTurn) {
    unrecorded |= failures > 0;
    failures = 0;
    end(nextTurn);
  }

  /** A turn has come to its end, and this post failed. */
  synchronized void failed(long nextTurn, FleetTiming timing) {
    failures++;
    restsUntil = System.nanoTime() + timing.backoffNanos(failures);
    unrecorded = true;
    end(nextTurn);
  }

  /** A turn has ended. */
  synchronized void end(long nextTurn) {
    busy = false;
    dueAt = nextTurn;
  }

  /** Whether the manager has something to do with it. */
  synchronized boolean hasNews() {
    return unrecorded || isLeaving();
  }

  synchronized int failures() {
    return failures;
  }

  @Override
  public String toString() {
    return name + " of owner " + owner;
  }
}
