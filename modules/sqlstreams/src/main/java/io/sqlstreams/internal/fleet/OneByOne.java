package io.sqlstreams.internal.fleet;

import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Consumer;

/** A turn that does one post after the other: what goes wrong for one stops none of the others. */
public final class OneByOne {
  private OneByOne() {}

  /**
   * Does it for each post that is held, until the thread is interrupted.
   *
   * @return what went wrong, as {@link Duty#perform} gives it
   */
  public static Map<Long, RuntimeException> perform(Collection<Post> posts, Consumer<Post> work) {
    Map<Long, RuntimeException> errors = new HashMap<>();
    for (Post post : posts) {
      if (post.isHeld() && !Thread.currentThread().isInterrupted()) {
        try {
          work.accept(post);
        } catch (RuntimeException e) {
          errors.put(post.worker(), e);
        }
      }
    }
    return errors;
  }
}
