/** What can go wrong, each kind with a stable code, whether a retry can help, and what to do. */
@NullMarked
package io.sqlstreams.error;

import org.jspecify.annotations.NullMarked;
