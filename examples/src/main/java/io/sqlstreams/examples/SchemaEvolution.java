package io.sqlstreams.examples;

import io.sqlstreams.ConsumerGroup;
import io.sqlstreams.Consumption;
import io.sqlstreams.Outcome;
import io.sqlstreams.SqlStreams;
import io.sqlstreams.StreamHandle;
import io.sqlstreams.VersionInfo;
import io.sqlstreams.VersionRest;
import io.sqlstreams.codec.SchemaVersion;
import io.sqlstreams.config.ConsumeOptions;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;

/**
 * A sign-up form that had one field for the name has two now. The newsletter knows the new form
 * alone, and still gets those who signed up by the old one; the stream says when the code for that
 * can be deleted.
 */
public final class SchemaEvolution {
  /** The old form; without an annotation it is version 1. */
  record SignedUpV1(String name) {}

  @SchemaVersion(2)
  record SignedUp(String firstName, String lastName) {
    static SignedUp of(SignedUpV1 old) {
      String[] names = old.name().split(" ", 2);
      return new SignedUp(names[0], names.length > 1 ? names[1] : "");
    }
  }

  private SchemaEvolution() {}

  public static void main(String[] args) throws Exception {
    try (ExampleDatabase database = ExampleDatabase.open(args);
        SqlStreams client = database.client()) {
      // as the earlier build of the application had it
      StreamHandle<SignedUpV1> before = client.stream("signups", SignedUpV1.class);
      before.register();
      before.group("newsletter").register();
      before.producer().produce(new SignedUpV1("Ada Lovelace"));
      before.producer().produce(new SignedUpV1("Plato"));

      // the new build: what it produces is version 2, and its group reads both
      StreamHandle<SignedUp> signups =
          client.stream("signups", SignedUp.class).upgrade(1, SignedUpV1.class, SignedUp::of);
      ConsumerGroup<SignedUp> newsletter = signups.group("newsletter");
      newsletter.register();
      signups.producer().produce(new SignedUp("Grace", "Hopper"));
      System.out.println("it reads the versions " + newsletter.bindings().schemaVersions());
      tell(signups);

      BlockingQueue<String> letters = new LinkedBlockingQueue<>();
      try (Consumption consumption =
          newsletter.consume(
              message -> {
                letters.add(message.payload() + ", written as " + message.schemaVersion());
                return Outcome.done();
              },
              ConsumeOptions.defaults().withHandlers(1))) { // one by one, in order
        System.out.println(letters.take());
        System.out.println(letters.take());
        System.out.println(letters.take());
        consumption.stop();
      }
      tell(signups);
    }
  }

  /** What the stream says of the old form, as long as nobody signs up by it any more. */
  private static void tell(StreamHandle<?> signups) {
    VersionInfo old = signups.versions().get(0); // ascending
    for (VersionRest rest : old.groups()) {
      System.out.println(rest.group() + " has " + rest.unread() + " of version 1 to read");
    }
    System.out.println("version 1 can be retired: " + old.canRetire());
  }
}
