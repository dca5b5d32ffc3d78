package io.sqlstreams.error;

/** The named schedule isn't registered. */
public class ScheduleNotFoundException extends SqlStreamsException {
  private static final long serialVersionUID = 1L;

  private final String schedule;

  /**
   * @param schedule the name that was asked for
   */
  public ScheduleNotFoundException(String schedule) {
    super(
        ErrorCode.SCHEDULE_NOT_FOUND,
        "schedule \""
            + schedule
            + "\" isn't registered: register it first, or correct the name (names are case-sensitive)",
        null);
    this.schedule = schedule;
  }

  /** The name that was asked for. */
  public String schedule() {
    return schedule;
  }
}
