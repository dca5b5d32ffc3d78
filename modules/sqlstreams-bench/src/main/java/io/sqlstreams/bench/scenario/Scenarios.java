package io.sqlstreams.bench.scenario;

import io.sqlstreams.bench.load.PayloadForm;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;

/** All there are. */
public final class Scenarios {
  /** The name that stands for all that take seconds. */
  public static final String ALL = "all";

  /** The one that the others are compared with. */
  public static final String BASE = RawLimit.NAME;

  private Scenarios() {}

  /** The names, the one for all included. */
  public static Set<String> names() {
    Set<String> names = new TreeSet<>(Set.of(ALL));
    in(List.of(PayloadForm.RAW)).forEach(scenario -> names.add(scenario.name()));
    return names;
  }

  /** Those that are named, in their own order; each once for each form of payload that it knows. */
  public static List<Scenario> named(List<String> names, List<PayloadForm> forms) {
    return in(forms)
        .filter(
            scenario ->
                names.contains(ALL) && scenario.isShort() || names.contains(scenario.name()))
        .toList();
  }

  private static Stream<Scenario> in(List<PayloadForm> forms) {
    return Stream.concat(
        Stream.of(new RawLimit()),
        forms.stream()
            .distinct()
            .flatMap(
                form ->
                    Stream.of(
                            Stream.of(Produce.Way.values()).map(way -> new Produce(form, way)),
                            Stream.of(Paired.Kind.values()).map(kind -> new Paired(form, kind)),
                            Stream.of(Drain.Kind.values()).map(kind -> new Drain(form, kind)),
                            Stream.of(new Retained(form)))
                        .flatMap(scenarios -> scenarios)));
  }
}
