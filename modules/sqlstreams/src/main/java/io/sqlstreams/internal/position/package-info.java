/** Places in a stream: the id after which a group reads that is to begin at this point. */
@NullMarked
package io.sqlstreams.internal.position;

import org.jspecify.annotations.NullMarked;
