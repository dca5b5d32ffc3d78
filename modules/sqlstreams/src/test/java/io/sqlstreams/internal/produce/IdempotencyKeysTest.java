package io.sqlstreams.internal.produce;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashSet;
import java.util.Locale;
import java.util.Set;
import java.util.UUID;
import org.junit.jupiter.api.Test;

class IdempotencyKeysTest {
  @Test
  void noKeyIsNone() {
    assertThat(IdempotencyKeys.uuid(null)).isNull();
  }

  @Test
  void aUuidIsItself() {
    for (String uuid :
        new String[] {
          "00000000-0000-0000-0000-000000000000",
          "0190163d-8694-739b-aea5-966c26f8ad91",
          "ffffffff-ffff-ffff-ffff-ffffffffffff"
        }) {
      assertThat(IdempotencyKeys.uuid(uuid)).hasToString(uuid);
    }
  }

  /** The SHA-256 of these texts is known. */
  @Test
  void anyOtherTextBecomesItsSha256AsVersion8() {
    // e3b0c442 98fc 1c14 9afb f4c8996fb924...
    assertThat(IdempotencyKeys.uuid("")).hasToString("e3b0c442-98fc-8c14-9afb-f4c8996fb924");
    // ba7816bf 8f01 cfea 4141 40de5dae2223...
    assertThat(IdempotencyKeys.uuid("abc")).hasToString("ba7816bf-8f01-8fea-8141-40de5dae2223");
  }

  @Test
  void whatOnlyLooksLikeAUuidIsText() {
    String uuid = "0190163d-8694-739b-aea5-966c26f8ad91";
    Set<UUID> keys = new HashSet<>();
    for (String text :
        new String[] {
          uuid,
          uuid.toUpperCase(Locale.ROOT),
          "1-1-1-1-1",
          "00000001-0001-0001-0001-00000000000g",
          "{" + uuid + "}",
          uuid + " ",
          uuid.replace("-", ""),
          "0190163d-8694-739b-aea5-966c26f8ad9-"
        }) {
      assertThat(keys.add(IdempotencyKeys.uuid(text))).as(text).isTrue();
    }
  }
}
