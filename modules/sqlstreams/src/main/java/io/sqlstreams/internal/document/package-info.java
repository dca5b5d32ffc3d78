/**
 * Settings as the JSON documents that tables keep: sparse, durations as nanoseconds. What isn't
 * there has the library's default, resolved when it is read.
 */
@NullMarked
package io.sqlstreams.internal.document;

import org.jspecify.annotations.NullMarked;
