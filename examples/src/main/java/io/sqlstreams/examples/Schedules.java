package io.sqlstreams.examples;

import io.sqlstreams.ConsumerGroup;
import io.sqlstreams.Consumption;
import io.sqlstreams.Outcome;
import io.sqlstreams.ScheduleHandle;
import io.sqlstreams.ScheduledRun;
import io.sqlstreams.SqlStreams;
import io.sqlstreams.StreamHandle;
import io.sqlstreams.config.Cron;
import io.sqlstreams.config.MissedRuns;
import io.sqlstreams.config.ProduceOptions;
import io.sqlstreams.config.ScheduleConfig;
import java.time.Instant;
import java.time.ZoneId;
import java.util.concurrent.CountDownLatch;

/**
 * Invoices are written every night at half past two, by the clocks of Oslo. The schedule is
 * registered at each start, which changes nothing when nothing has changed. After a break of
 * several nights one run is enough. The first run is wanted at once, so it is asked for by hand.
 */
public final class Schedules {
  record InvoiceRun(String region) {}

  private Schedules() {}

  public static void main(String[] args) throws Exception {
    try (ExampleDatabase database = ExampleDatabase.open(args);
        SqlStreams client = database.client()) {
      StreamHandle<InvoiceRun> invoices = client.stream("invoices", InvoiceRun.class);
      invoices.register();
      ConsumerGroup<InvoiceRun> billing = invoices.group("billing");
      billing.register();

      Cron nightly = Cron.of("30 2 * * *", ZoneId.of("Europe/Oslo"));
      ScheduleHandle schedule = client.schedule("invoices.nightly");
      for (int start = 0; start < 2; start++) {
        schedule.register(
            "invoices",
            nightly,
            new InvoiceRun("eu"),
            ScheduleConfig.defaults()
                .withMissedRuns(MissedRuns.LATEST)
                .withOptions(ProduceOptions.key("eu")));
      }
      System.out.println("registered: " + client.schedules().get(0).cron());

      // in the night in which the clocks go from two to three, it runs at three
      Instant march = Instant.parse("2025-03-29T00:00:00Z");
      nightly
          .next(march, 3)
          .forEach(time -> System.out.println("runs at " + time.atZone(nightly.zone())));

      schedule.runNow();
      CountDownLatch written = new CountDownLatch(1);
      try (Consumption consumption =
          billing.consume(
              message -> {
                ScheduledRun run = message.scheduledRun();
                System.out.println(
                    "writes the invoices of "
                        + message.payload().region()
                        + (run != null && run.byHand() ? ", asked for by hand" : ""));
                written.countDown();
                return Outcome.done();
              })) {
        written.await();
      }

      System.out.println("suspended: " + schedule.suspend());
      System.out.println("next runs: " + schedule.nextTimes(3));
      System.out.println("resumed: " + schedule.resume());
      System.out.println("next runs: " + schedule.nextTimes(3).size());
    }
  }
}
