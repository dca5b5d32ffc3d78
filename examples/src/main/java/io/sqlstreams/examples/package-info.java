/** Small programs, each about one thing; the classes with a {@code main} are to be read. */
@NullMarked
package io.sqlstreams.examples;

import org.jspecify.annotations.NullMarked;
