/** What a group reads of its stream, as the statements that ask for it have it in common. */
@NullMarked
package io.sqlstreams.internal.filter;

import org.jspecify.annotations.NullMarked;
