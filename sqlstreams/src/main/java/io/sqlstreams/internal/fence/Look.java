package io.sqlstreams.internal.fence;

import java.util.List;

/**
 * One look at a stream's log: every id up to {@code head} is settled once none of these writers writes any more.
 *
 * @param head the newest id that was visible
 * @param writers the virtual transactions that may still bring smaller ids
 */
record Look(long head, List<String> writers) {}
