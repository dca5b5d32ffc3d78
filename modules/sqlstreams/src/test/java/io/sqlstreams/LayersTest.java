package io.sqlstreams;

import static com.tngtech.archunit.base.DescribedPredicate.not;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.belongToAnyOf;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;
import static java.util.Map.entry;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaPackage;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Which package may use which. A dependency that isn't here is a decision: think before you add it.
 */
class LayersTest {
  private static final String ROOT = "io.sqlstreams";
  private static final String INTERNAL = ROOT + ".internal";

  /** What each internal package may use of the others. */
  private static final Map<String, Set<String>> INTERNAL_USES =
      Map.ofEntries(
          // the ground: statements and connections, payloads, threads, signals
          entry("sql", Set.of()),
          entry("codec", Set.of()),
          entry("document", Set.of()),
          entry("filter", Set.of()),
          entry("lifecycle", Set.of()),
          entry("wake", Set.of("sql", "lifecycle")),
          // the tables, and what is registered
          entry("schema", Set.of("sql")),
          entry("migration", Set.of("sql", "schema")),
          entry("access", Set.of("sql")),
          entry("partition", Set.of("sql", "schema")),
          entry("position", Set.of("sql", "partition")),
          entry(
              "catalog",
              // registering a stream declares its workers
              Set.of(
                  "sql",
                  "schema",
                  "migration",
                  "partition",
                  "position",
                  "document",
                  "filter",
                  "fleet")),
          // the path of a message
          entry("produce", Set.of("sql", "document")),
          entry("log", Set.of("sql", "document")),
          entry("head", Set.of("sql", "log")),
          entry("fence", Set.of("sql")),
          entry("order", Set.of()),
          entry("claim", Set.of("sql", "log", "filter", "order")),
          entry("lease", Set.of("sql", "lifecycle", "wake")),
          entry("outcome", Set.of("sql", "document", "order")),
          entry(
              "dispatch",
              Set.of(
                  "sql",
                  "codec",
                  "log",
                  "document",
                  "fence",
                  "claim",
                  "lease",
                  "outcome",
                  "lifecycle",
                  "wake")),
          // the background work
          entry("fleet", Set.of("sql", "lifecycle", "wake")),
          entry(
              "upkeep", Set.of("sql", "catalog", "partition", "head", "fence", "filter", "fleet")),
          entry("schedule", Set.of("sql", "catalog", "produce", "document", "fleet")),
          // looking without touching
          entry("inspect", Set.of("sql", "document", "log", "fence", "filter")),
          // what people do by hand
          entry("operation", Set.of("sql", "schema", "position", "document", "filter")),
          // what ties them together
          entry(
              "client",
              Set.of(
                  "sql",
                  "codec",
                  "schema",
                  "migration",
                  "access",
                  "partition",
                  "position",
                  "catalog",
                  "produce",
                  "log",
                  "head",
                  "lease",
                  "inspect",
                  "operation",
                  "dispatch",
                  "schedule",
                  "upkeep",
                  "wake",
                  "fleet")));

  /** What each API package may use of the others. */
  private static final Map<String, Set<String>> API_USES =
      Map.of(
          ROOT + ".error",
          Set.of(),
          ROOT + ".config",
          Set.of(ROOT + ".error"),
          ROOT + ".codec",
          Set.of(ROOT + ".error"),
          ROOT,
          Set.of(ROOT + ".error", ROOT + ".config", ROOT + ".codec"));

  private static final JavaClasses CLASSES =
      new ClassFileImporter()
          .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
          .importPackages(ROOT);

  @Test
  void everyInternalPackageHasItsPlace() {
    Set<String> present =
        CLASSES.getPackage(INTERNAL).getSubpackages().stream()
            .map(JavaPackage::getRelativeName)
            .collect(Collectors.toSet());
    assertThat(INTERNAL_USES.keySet()).containsAll(present);
    assertThat(CLASSES.getPackage(INTERNAL).getClasses()).isEmpty();
  }

  @ParameterizedTest
  @MethodSource("internalPackages")
  void anInternalPackageUsesOnlyWhatItMay(String name) {
    String[] others =
        INTERNAL_USES.keySet().stream()
            .filter(other -> !other.equals(name) && !INTERNAL_USES.get(name).contains(other))
            .map(other -> INTERNAL + "." + other + "..")
            .toArray(String[]::new);
    noClasses()
        .that()
        .resideInAPackage(INTERNAL + "." + name + "..")
        .should()
        .dependOnClassesThat(resideInAnyPackage(others))
        .allowEmptyShould(true)
        .check(CLASSES);
  }

  static Stream<String> internalPackages() {
    return INTERNAL_USES.keySet().stream().sorted();
  }

  @ParameterizedTest
  @MethodSource("apiPackages")
  void anApiPackageUsesOnlyWhatItMay(String name) {
    String[] others =
        API_USES.keySet().stream()
            .filter(other -> !other.equals(name) && !API_USES.get(name).contains(other))
            .toArray(String[]::new);
    noClasses()
        .that()
        .resideInAPackage(name)
        .should()
        .dependOnClassesThat(resideInAnyPackage(others))
        .check(CLASSES);
  }

  static Stream<String> apiPackages() {
    return API_USES.keySet().stream().sorted();
  }

  @Test
  void internalPackagesHaveNoCycles() {
    slices().matching(INTERNAL + ".(*)..").should().beFreeOfCycles().check(CLASSES);
  }

  @Test
  void theApiReachesInternalWhenAClientIsBuiltAndNowhereElse() {
    noClasses()
        .that(
            not(resideInAPackage(INTERNAL + "..")).and(not(belongToAnyOf(SqlStreamsBuilder.class))))
        .should()
        .dependOnClassesThat(resideInAPackage(INTERNAL + ".."))
        .check(CLASSES);
  }

  @Test
  void theApiShowsNoTypeOfALibraryButTheJdk() {
    classes()
        .that(not(resideInAPackage(INTERNAL + "..")))
        .should()
        .onlyDependOnClassesThat(
            resideInAnyPackage(ROOT + "..", "java..", "javax.sql..", "org.jspecify.."))
        .check(CLASSES);
  }
}
