package io.sqlstreams.cli.demo;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.json.JsonMapper;

class DeliveryTest {
  @Test
  void everyDeliveryIsThereWithItsKeys() {
    List<Delivery> all = Delivery.all();
    assertThat(all).hasSize(329);
    assertThat(all)
        .extracting(Delivery::routingKey)
        .contains("push", "issues.opened", "check_run.created");
    assertThat(
            all.stream()
                .map(d -> d.routingKey().replaceFirst("\\..*", ""))
                .collect(Collectors.toSet()))
        .hasSize(58);
    assertThat(all).filteredOn(delivery -> delivery.key() == null).hasSize(49);
    assertThat(all)
        .allSatisfy(d -> assertThat(JsonMapper.shared().readTree(d.payload()).isObject()).isTrue());
  }

  @Test
  void thePayloadIsCutOutCharacterForCharacter() {
    String payload = "{\"id\": 9007199254740993, \"x\":1.10,\"payload\":{\"y\":1e400}}";
    Delivery delivery =
        Delivery.of(
            "{\"event\":\"push\",\"action\":null,\"repository\":\"a/b\",\"payload\":"
                + payload
                + "}");
    assertThat(delivery).isEqualTo(new Delivery("push", "a/b", payload));
    assertThat(delivery.message().payload().text()).isEqualTo(payload);
    assertThat(delivery.message().options().routingKey()).isEqualTo("push");
    assertThat(delivery.message().options().key()).isEqualTo("a/b");
  }
}
