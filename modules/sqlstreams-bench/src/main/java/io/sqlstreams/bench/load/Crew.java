package io.sqlstreams.bench.load;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorCompletionService;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

/** Runs several things at the same time, each on a thread of its own. */
public final class Crew {
  private static final int SECONDS_TO_END = 60;

  private Crew() {}

  /**
   * Returns when all have ended. The first failure ends the others.
   *
   * @throws Exception what the first that failed threw
   */
  public static void run(List<Callable<Void>> members) throws Exception {
    ExecutorService threads = Executors.newFixedThreadPool(members.size());
    try {
      ExecutorCompletionService<Void> ended = new ExecutorCompletionService<>(threads);
      List<Future<Void>> futures = new ArrayList<>();
      members.forEach(member -> futures.add(ended.submit(member)));
      for (int i = 0; i < futures.size(); i++) {
        ended.take().get();
      }
    } catch (ExecutionException e) {
      throw e.getCause() instanceof Exception cause ? cause : e;
    } finally {
      threads.shutdownNow();
      threads.awaitTermination(SECONDS_TO_END, TimeUnit.SECONDS);
    }
  }
}
