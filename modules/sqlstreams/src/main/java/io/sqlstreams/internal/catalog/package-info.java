/**
 * What is registered: the installation, its streams and their groups, and how declarations change
 * them.
 */
@NullMarked
package io.sqlstreams.internal.catalog;

import org.jspecify.annotations.NullMarked;
