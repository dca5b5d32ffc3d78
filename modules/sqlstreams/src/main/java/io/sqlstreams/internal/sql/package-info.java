/**
 * Statements as named text, connections, transactions and the meaning of what the database refuses.
 */
@NullMarked
package io.sqlstreams.internal.sql;

import org.jspecify.annotations.NullMarked;
