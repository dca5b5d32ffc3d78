/**
 * Real PostgreSQL for tests: one embedded server a JVM, a fresh schema for each test class.
 *
 * <p>Start with {@link io.sqlstreams.test.SqlStreamsTest}.
 */
@NullMarked
package io.sqlstreams.test;

import org.jspecify.annotations.NullMarked;
