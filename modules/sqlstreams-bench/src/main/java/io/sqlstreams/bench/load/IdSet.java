package io.sqlstreams.bench.load;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReferenceArray;

/** Message ids from 1 on, a byte for each; adding costs a few nanoseconds. Thread-safe. */
public final class IdSet {
  private static final int PAGE = 1 << 16;
  private static final int PAGES = 1 << 16;
  private static final VarHandle BYTES = MethodHandles.arrayElementVarHandle(byte[].class);

  private final AtomicReferenceArray<byte[]> pages = new AtomicReferenceArray<>(PAGES);
  private final AtomicLong size = new AtomicLong();

  /**
   * Adds an id.
   *
   * @return how many there are now; 0 when it was in already
   */
  public long add(long id) {
    byte[] page = page(id);
    if (!BYTES.compareAndSet(page, (int) (id % PAGE), (byte) 0, (byte) 1)) {
      return 0;
    }
    return size.incrementAndGet();
  }

  /** Whether it is in. */
  public boolean contains(long id) {
    byte[] page = pages.get((int) (id / PAGE));
    return page != null && (byte) BYTES.getVolatile(page, (int) (id % PAGE)) == 1;
  }

  /** How many there are. */
  public long size() {
    return size.get();
  }

  /** How many of these ids are not in the other set. */
  public long missingIn(IdSet other) {
    long missing = 0;
    for (int number = 0; number < PAGES; number++) {
      if (pages.get(number) != null) {
        long first = (long) number * PAGE;
        for (long id = first; id < first + PAGE; id++) {
          missing += contains(id) && !other.contains(id) ? 1 : 0;
        }
      }
    }
    return missing;
  }

  private byte[] page(long id) {
    int number = Math.toIntExact(id / PAGE);
    byte[] page = pages.get(number);
    if (page == null) {
      pages.compareAndSet(number, null, new byte[PAGE]);
      page = pages.get(number);
    }
    return page;
  }
}
