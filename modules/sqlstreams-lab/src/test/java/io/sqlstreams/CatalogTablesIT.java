package io.sqlstreams;

import static org.assertj.core.api.Assertions.assertThat;

import io.sqlstreams.config.PayloadType;
import io.sqlstreams.config.StreamConfig;
import io.sqlstreams.test.SqlStreamsTest;
import io.sqlstreams.test.TestDatabase;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * What PostgreSQL's catalog says of the tables, against {@code tables.txt}: each column with its
 * type, nullability and default, each key, foreign key, check, index and storage setting.
 */
@SqlStreamsTest
class CatalogTablesIT {
  private static final Map<String, List<String>> EXPECTED = expected();

  static TestDatabase database;

  @BeforeAll
  static void install() {
    StreamHandle<?> stream =
        SqlStreams.builder(database.dataSource()).schema(database.schema()).build().stream("s");
    stream.register(StreamConfig.defaults().withPartitionSize(100));
    stream.group("g").register();
  }

  static Stream<String> tables() {
    return EXPECTED.keySet().stream();
  }

  @ParameterizedTest
  @MethodSource("tables")
  void aTableIsAsItWasDesigned(String table) throws SQLException {
    assertThat(description(table)).isEqualTo(EXPECTED.get(table));
  }

  @Test
  void thereAreNoOtherTables() throws SQLException {
    TreeSet<String> expected = new TreeSet<>(EXPECTED.keySet());
    expected.add("message_log_1_0");
    expected.add("message_log_1_1");
    assertThat(
            rows(
                "SELECT relname FROM pg_class WHERE relkind IN ('r', 'p', 'v', 'm', 'f') AND relnamespace = '{s}'::regnamespace"))
        .containsExactlyInAnyOrderElementsOf(expected);
  }

  @Test
  void theLogIsPartitionedByRangeOfItsId() throws SQLException {
    assertThat(rows("SELECT pg_get_partkeydef('{s}.message_log_1'::regclass)"))
        .containsExactly("RANGE (id)");
    // none takes what has no partition of its own: it would have to be scanned for each new one
    assertThat(
            rows(
                "SELECT partdefid FROM pg_partitioned_table WHERE partrelid = '{s}.message_log_1'::regclass"))
        .containsExactly("0");
    assertThat(
            rows(
                "SELECT seqcache, seqincrement, seqcycle FROM pg_sequence WHERE seqrelid = '{s}.message_log_1_id_seq'::regclass"))
        .containsExactly("1 1 f");
  }

  @Test
  void thePayloadColumnHasTheTypeOfTheStream() throws SQLException {
    SqlStreams client =
        SqlStreams.builder(database.dataSource())
            .schema(database.schema())
            .allowDestroy(true)
            .build();
    for (PayloadType type : PayloadType.values()) {
      StreamInfo stream =
          client.stream("t").register(StreamConfig.defaults().withPayloadType(type));
      assertThat(
              rows(
                  "SELECT format_type(atttypid, atttypmod), attnotnull FROM pg_attribute WHERE attname = 'payload'"
                      + " AND attrelid IN ('{s}.message_log_%1$d'::regclass, '{s}.message_log_%1$d_1'::regclass)"
                          .formatted(stream.id())))
          .containsExactly(type.sqlName() + " f", type.sqlName() + " f");
      client.stream("t").destroy();
    }
  }

  // ---- the deliberate absences

  @Test
  void noTableOfAFamilyHasAStreamId() throws SQLException {
    assertThat(
            rows(
                "SELECT attrelid::regclass FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid"
                    + " WHERE attname = 'stream_id' AND relnamespace = '{s}'::regnamespace AND relkind IN ('r', 'p')"
                    + " AND relname ~ '_1(_[0-9]+)?$'"))
        .isEmpty();
  }

  @Test
  void noForeignKeyLeadsIntoTheLog() throws SQLException {
    assertThat(
            rows(
                "SELECT conname FROM pg_constraint WHERE contype = 'f' AND confrelid IN"
                    + " (SELECT oid FROM pg_class WHERE relname ~ '^message_log_' AND relnamespace = '{s}'::regnamespace)"))
        .isEmpty();
  }

  @Test
  void noTableOfAFamilyRefersToTheControlPlane() throws SQLException {
    assertThat(
            rows(
                "SELECT child.relname, parent.relname, confdeltype FROM pg_constraint"
                    + " JOIN pg_class AS child ON child.oid = conrelid"
                    + " JOIN pg_class AS parent ON parent.oid = confrelid"
                    + " WHERE contype = 'f' AND connamespace = '{s}'::regnamespace"
                    + " AND child.relname ~ '_1(_[0-9]+)?$' ORDER BY child.relname"))
        .as("each would add to what every other stream's groups cost")
        .isEmpty();
  }

  @Test
  void noForeignKeyLeavesTheSchema() throws SQLException {
    assertThat(
            rows(
                "SELECT conname FROM pg_constraint WHERE contype = 'f' AND connamespace = '{s}'::regnamespace"
                    + " AND confrelid NOT IN (SELECT oid FROM pg_class WHERE relnamespace = '{s}'::regnamespace)"))
        .isEmpty();
  }

  @Test
  void everyForeignKeyCascadesAndHasAnIndexToCascadeBy() throws SQLException {
    assertThat(
            rows(
                "SELECT DISTINCT confdeltype FROM pg_constraint WHERE contype = 'f' AND connamespace = '{s}'::regnamespace"))
        .containsExactly("c");
    assertThat(
            rows(
                """
                SELECT conrelid::regclass, conname
                FROM pg_constraint
                WHERE contype = 'f'
                  AND connamespace = '{s}'::regnamespace
                  -- there is one system, and it is never deleted alone
                  AND confrelid <> '{s}.system_config'::regclass
                  AND NOT EXISTS (
                    SELECT FROM pg_index WHERE indrelid = conrelid AND indkey[0] = conkey[1])
                """))
        .isEmpty();
  }

  @Test
  void eachOfThreeOwnersIsTheOnlyOne() throws SQLException {
    for (String table : List.of("worker_config", "schedule_config", "migration_log")) {
      assertThat(EXPECTED.get(table))
          .contains("check ((num_nonnulls(system_id, stream_id, consumer_group_id) = 1))");
    }
  }

  // ---- reading the catalog

  private static List<String> description(String table) throws SQLException {
    List<String> lines = new ArrayList<>();
    for (String query :
        List.of(
            """
            SELECT 'column ' || attname || ' ' || format_type(atttypid, atttypmod)
              || CASE WHEN attnotnull THEN '' ELSE ' null' END
              || CASE attidentity WHEN 'a' THEN ' identity always' WHEN 'd' THEN ' identity by default' ELSE '' END
              || coalesce(' default ' || pg_get_expr(adbin, adrelid), '')
            FROM pg_attribute
            LEFT JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum
            WHERE attrelid = '{t}'::regclass AND attnum > 0 AND NOT attisdropped
            ORDER BY attnum
            """,
            """
            SELECT CASE contype WHEN 'p' THEN 'primary key' WHEN 'u' THEN 'unique' WHEN 'f' THEN 'foreign key' ELSE 'check' END
              || ' ' || regexp_replace(pg_get_constraintdef(oid), '^(PRIMARY KEY|UNIQUE|FOREIGN KEY|CHECK) ', '')
            FROM pg_constraint
            WHERE conrelid = '{t}'::regclass AND contype IN ('p', 'u', 'f', 'c')
            ORDER BY position(contype::text IN 'pufc'), 1
            """,
            """
            SELECT CASE WHEN indisunique THEN 'unique ' ELSE '' END || 'index '
              || regexp_replace(pg_get_indexdef(indexrelid), '^.* USING btree ', '')
            FROM pg_index
            WHERE indrelid = '{t}'::regclass
              AND NOT EXISTS (SELECT FROM pg_constraint WHERE conindid = indexrelid AND contype IN ('p', 'u'))
            ORDER BY 1
            """,
            """
            SELECT 'with ' || unnest(reloptions) FROM pg_class WHERE oid = '{t}'::regclass ORDER BY 1
            """)) {
      for (String line : rows(query.replace("{t}", "{s}." + table))) {
        lines.add(line.replace(database.schema() + ".", "").replaceAll("\\s+", " "));
      }
    }
    return lines;
  }

  private static List<String> rows(String sql) throws SQLException {
    return Sql.rows(database.dataSource(), sql.replace("{s}", database.schema()));
  }

  /** Table names begin at the margin, what is said of them is indented. */
  private static Map<String, List<String>> expected() {
    Map<String, List<String>> tables = new LinkedHashMap<>();
    try (InputStream file = CatalogTablesIT.class.getResourceAsStream("/tables.txt")) {
      List<String> lines = List.of();
      for (String line : new String(file.readAllBytes(), StandardCharsets.UTF_8).lines().toList()) {
        if (line.startsWith("  ")) {
          lines.add(line.strip());
        } else if (!line.isBlank() && !line.startsWith("#")) {
          lines = new ArrayList<>();
          tables.put(line.strip(), lines);
        }
      }
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
    return tables;
  }
}
