/**
 * For the library's own tests: worker processes that can be frozen and killed, and the ledgers of
 * what they did.
 */
@NullMarked
package io.sqlstreams.lab;

import org.jspecify.annotations.NullMarked;
