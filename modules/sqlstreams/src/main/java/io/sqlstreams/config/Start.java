package io.sqlstreams.config;

import io.sqlstreams.error.InvalidInputException;
import java.time.Instant;

/**
 * A place in a stream: where a new consumer group begins to read, or to which a group is rewound.
 */
public sealed interface Start {
  /** The oldest message that the stream still holds. The default. */
  Start BEGINNING = Edge.BEGINNING;

  /**
   * After the newest message that is visible when the place is looked up. A message whose
   * transaction is still open then is delivered if its id is above that one.
   */
  Start HEAD = Edge.HEAD;

  /** {@link #BEGINNING}. */
  static Start beginning() {
    return BEGINNING;
  }

  /** {@link #HEAD}. */
  static Start head() {
    return HEAD;
  }

  /**
   * The first message, in the order of the ids, that was produced at this instant or later, by the
   * database's clock; after the newest message when there is none yet. Messages that were produced
   * about then by concurrent transactions aren't exactly in the order of time: everything from that
   * first one on is delivered, so a few older ones may be among it.
   *
   * <p>It is found without an index on the time, by the order of the ids: it is exact as long as no
   * message was written more than 10 minutes after its id was drawn, and the server's clock wasn't
   * set back by more. The lookup walks over the messages of those 10 minutes.
   *
   * @param instant the instant
   */
  static Start at(Instant instant) {
    return new At(instant);
  }

  /**
   * After this message: the first one that is delivered has a higher id.
   *
   * @param messageId the id, 0 or above; it needn't exist (any more)
   * @throws InvalidInputException when it is negative
   */
  static Start after(long messageId) {
    return new After(messageId);
  }

  /** One of the stream's ends; see {@link Start#beginning()} and {@link Start#head()}. */
  enum Edge implements Start {
    /** See {@link Start#BEGINNING}. */
    BEGINNING,
    /** See {@link Start#HEAD}. */
    HEAD;

    @Override
    public String toString() {
      return this == BEGINNING ? "beginning" : "head";
    }
  }

  /**
   * See {@link Start#at(Instant)}.
   *
   * @param instant the instant
   */
  record At(Instant instant) implements Start {
    @Override
    public String toString() {
      return "at " + instant;
    }
  }

  /**
   * See {@link Start#after(long)}.
   *
   * @param messageId the id, 0 or above
   */
  record After(long messageId) implements Start {
    /**
     * @throws InvalidInputException when it is negative
     */
    public After {
      if (messageId < 0) {
        throw new InvalidInputException("messageId", "must be 0 or above, not " + messageId);
      }
    }

    @Override
    public String toString() {
      return "after " + messageId;
    }
  }
}
