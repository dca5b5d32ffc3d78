/**
 * Immutable options: {@code defaults()} and {@code withX()}; contradictory settings are refused
 * where they are made.
 */
@NullMarked
package io.sqlstreams.config;

import org.jspecify.annotations.NullMarked;
