package io.sqlstreams;

/**
 * The receipt of a produced message.
 *
 * @param id the message id: the message's position in its stream, above 0. Ids rise, with gaps
 *     where transactions were rolled back
 */
public record Produced(long id) {}
