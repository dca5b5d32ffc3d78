package io.sqlstreams;

import io.sqlstreams.config.Binding;
import java.time.Instant;
import java.util.Collections;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * What a group reads of its stream, and from where on. Immutable.
 *
 * @param bindings a message is read when any of them matches; empty: all are
 * @param schemaVersions and when its schema version is one of these, ascending; empty: every
 *     version
 * @param state whether everything that was claimed under an earlier set has ended
 * @param above the set holds for every message above this id: where the group stood when it was
 *     declared, or where it was rewound to since, whichever is lower. What lies at or below it was
 *     claimed under earlier sets, and is theirs also when a range of it is taken over from a dead
 *     process
 * @param declaredAt when the set was declared, by the database's clock; null when the trail of
 *     declarations was emptied
 */
public record GroupBindings(
    Set<Binding> bindings,
    List<Integer> schemaVersions,
    State state,
    long above,
    @Nullable Instant declaredAt) {
  public GroupBindings {
    bindings = Collections.unmodifiableSet(new LinkedHashSet<>(bindings));
    schemaVersions = List.copyOf(schemaVersions);
  }

  /** How far a set has come into force. */
  public enum State {
    /** It holds, and nothing that was claimed under an earlier one is open. */
    INSTALLED,
    /**
     * It holds for every message above the point, while ranges that were claimed under an earlier
     * one are still open: their messages are still delivered, whether the new one matches them or
     * not.
     */
    WAITING
  }
}
