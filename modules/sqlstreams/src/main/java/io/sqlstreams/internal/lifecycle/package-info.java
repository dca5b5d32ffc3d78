/** The one start and stop contract of everything that runs in the background. */
@NullMarked
package io.sqlstreams.internal.lifecycle;

import org.jspecify.annotations.NullMarked;
