/** The tables: how they are created, found and dropped. */
@NullMarked
package io.sqlstreams.internal.schema;

import org.jspecify.annotations.NullMarked;
