package io.sqlstreams.codec;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * The schema version of a payload class, stored with each message that carries it. A class without
 * it has version {@value #DEFAULT}. A group reads the version of the class with which it was
 * registered, and older ones that its handle upgrades ({@code StreamHandle.upgrade}); it steps over
 * the others.
 */
@Documented
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.TYPE)
public @interface SchemaVersion {
  /** The version of a payload class that doesn't say. */
  int DEFAULT = 1;

  /** The version: 1 or above. */
  int value();
}
