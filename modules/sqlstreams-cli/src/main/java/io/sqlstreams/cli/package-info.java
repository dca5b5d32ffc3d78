/** The command line. It uses the public API alone, as any program of a user does. */
@NullMarked
package io.sqlstreams.cli;

import org.jspecify.annotations.NullMarked;
