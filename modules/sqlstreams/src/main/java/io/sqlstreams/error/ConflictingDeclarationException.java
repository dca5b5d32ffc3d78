package io.sqlstreams.error;

/**
 * A declaration differs from the registered one in a setting that is fixed at creation. Nothing was
 * changed.
 */
public class ConflictingDeclarationException extends SqlStreamsException {
  private static final long serialVersionUID = 1L;

  private final String setting;
  private final String registered;
  private final String declared;

  /**
   * @param subject what was declared, such as {@code stream "orders"}
   * @param setting the setting that differs
   * @param registered its value in the database
   * @param declared its value in the declaration
   */
  public ConflictingDeclarationException(
      String subject, String setting, String registered, String declared) {
    super(
        ErrorCode.CONFLICTING_DECLARATION,
        subject
            + " is registered with "
            + setting
            + " = "
            + registered
            + ", the declaration says "
            + declared
            + ": it is fixed at creation, so declare "
            + registered
            + " or use another name",
        null);
    this.setting = setting;
    this.registered = registered;
    this.declared = declared;
  }

  /** The setting that differs. */
  public String setting() {
    return setting;
  }

  /** The setting's value in the database. */
  public String registered() {
    return registered;
  }

  /** The setting's value in the declaration. */
  public String declared() {
    return declared;
  }
}
