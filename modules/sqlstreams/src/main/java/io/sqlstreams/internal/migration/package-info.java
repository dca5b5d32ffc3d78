/** The versions of the tables: who may work on them, and how they get to the next one. */
@NullMarked
package io.sqlstreams.internal.migration;

import org.jspecify.annotations.NullMarked;
