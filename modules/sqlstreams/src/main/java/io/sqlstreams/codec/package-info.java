/** How a payload becomes bytes and back. */
@NullMarked
package io.sqlstreams.codec;

import org.jspecify.annotations.NullMarked;
