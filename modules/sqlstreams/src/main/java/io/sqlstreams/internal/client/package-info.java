/**
 * The client and its handles: what the caller holds, and how each verb finds its way to the rest.
 */
@NullMarked
package io.sqlstreams.internal.client;

import org.jspecify.annotations.NullMarked;
