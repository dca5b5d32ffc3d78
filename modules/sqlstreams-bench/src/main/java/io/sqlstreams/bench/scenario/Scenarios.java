package io.sqlstreams.bench.scenario;

import io.sqlstreams.bench.load.PayloadForm;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;

/** All there are. */
public final class Scenarios {
  /** The name that stands for all. */
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
        .filter(scenario -> names.contains(ALL) || names.contains(scenario.name()))
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
                        new Produce(form, Produce.Way.BATCHES),
                        new Produce(form, Produce.Way.KEYED),
                        new Produce(form, Produce.Way.COMPACTED),
                        new Produce(form, Produce.Way.HOT),
                        new Produce(form, Produce.Way.SINGLES),
                        new Produce(form, Produce.Way.SINGLES_COMPACTED),
                        new Produce(form, Produce.Way.SINGLES_HOT),
                        new Paired(form, Paired.Kind.PLAIN),
                        new Paired(form, Paired.Kind.FAILING),
                        new Paired(form, Paired.Kind.LOGGED),
                        new Paired(form, Paired.Kind.TRANSACTIONAL))));
  }
}
