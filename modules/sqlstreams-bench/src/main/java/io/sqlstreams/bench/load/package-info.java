/** What is sent, how much of it, and which of it has arrived. */
@NullMarked
package io.sqlstreams.bench.load;

import org.jspecify.annotations.NullMarked;
