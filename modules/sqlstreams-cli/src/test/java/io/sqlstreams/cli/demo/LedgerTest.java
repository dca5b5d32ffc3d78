package io.sqlstreams.cli.demo;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class LedgerTest {
  @TempDir Path folder;
  private Path file;
  private LedgerReader reader;
  private final Tally tally = new Tally();

  @BeforeEach
  void prepare() {
    file = folder.resolve("audit-1.ids");
    reader = new LedgerReader(file);
  }

  @Test
  void whatIsWrittenIsReadAtOnceAndOnce() throws IOException {
    reader.readInto(tally); // no file yet
    try (Ledger ledger = Ledger.create(file)) {
      ledger.add(3);
      ledger.add(1_000_000);
      reader.readInto(tally);
      assertThat(tally.distinct()).isEqualTo(2);
      ledger.add(4);
      reader.readInto(tally);
      reader.readInto(tally);
    }
    assertThat(tally.distinct()).isEqualTo(3);
    assertThat(tally.repeats()).isZero();
  }

  @Test
  void aLineWithoutItsEndWaits() throws IOException {
    Files.writeString(file, "12\n3");
    reader.readInto(tally);
    assertThat(tally.distinct()).isEqualTo(1);
    Files.writeString(file, "4\n", StandardOpenOption.APPEND);
    reader.readInto(tally);
    Tally expected = new Tally();
    expected.add(12);
    expected.add(34);
    assertThat(expected.missingFrom(tally)).isZero();
    assertThat(tally.distinct()).isEqualTo(2);
  }
}
