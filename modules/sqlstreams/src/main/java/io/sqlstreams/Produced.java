package io.sqlstreams;

import io.sqlstreams.config.ProduceOptions;
import io.sqlstreams.config.StreamConfig;

/**
 * The receipt of a produced message.
 *
 * @param id the message id: the message's position in its stream, above 0. Ids rise, with gaps
 *     where transactions were rolled back. For a duplicate, the id of the original
 * @param duplicate whether nothing was written, because a message with the same {@linkplain
 *     ProduceOptions#idempotencyKey idempotency key} was there already, or is earlier in the same
 *     list. Also true when this very call had written it, but the connection was lost before the
 *     database's answer came, and the message was sent again
 * @param samePayload whether the original has this payload as well; byte for byte, in a jsonb
 *     stream by value. False says that the key was used for something else, and that this payload
 *     isn't in the stream. True when it isn't a duplicate, and when nobody can tell: the original's
 *     partition was dropped, while its key still lives (see {@link StreamConfig#idempotencyKeyTtl})
 */
public record Produced(long id, boolean duplicate, boolean samePayload) {
  /** The receipt of a message that was written. */
  public Produced(long id) {
    this(id, false, true);
  }
}
