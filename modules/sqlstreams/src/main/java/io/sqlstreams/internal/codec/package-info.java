/** The codecs that come with the library. */
@NullMarked
package io.sqlstreams.internal.codec;

import org.jspecify.annotations.NullMarked;
