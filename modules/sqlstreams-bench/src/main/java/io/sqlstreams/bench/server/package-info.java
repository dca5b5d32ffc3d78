/** The PostgreSQL that is measured. */
@NullMarked
package io.sqlstreams.bench.server;

import org.jspecify.annotations.NullMarked;
