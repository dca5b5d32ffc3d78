package io.sqlstreams.internal.client;

import io.sqlstreams.MessageInfo;
import io.sqlstreams.Produced;
import io.sqlstreams.ScheduleHandle;
import io.sqlstreams.ScheduleInfo;
import io.sqlstreams.ScheduleStatus;
import io.sqlstreams.ScheduledRun;
import io.sqlstreams.codec.PayloadCodec;
import io.sqlstreams.config.Cron;
import io.sqlstreams.config.ScheduleConfig;
import io.sqlstreams.error.InvalidInputException;
import io.sqlstreams.internal.codec.Codecs;
import io.sqlstreams.internal.produce.PlannedWriter;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** A schedule by its name. */
record NamedSchedule(Parts parts, String name) implements ScheduleHandle {
  @Override
  public ScheduleInfo register(String stream, Cron cron, Object payload, ScheduleConfig config) {
    required("payload", payload);
    return registerOwn(stream, cron, payload, config);
  }

  @SuppressWarnings("unchecked") // the class of an object is one of its type
  private <T> ScheduleInfo registerOwn(String stream, Cron cron, T payload, ScheduleConfig config) {
    return declare(stream, cron, payload, Codecs.forType((Class<T>) payload.getClass()), config);
  }

  @Override
  public <T> ScheduleInfo register(
      String stream, Cron cron, T payload, PayloadCodec<T> codec, ScheduleConfig config) {
    return declare(stream, cron, payload, Codecs.guarded(codec), config);
  }

  private <T> ScheduleInfo declare(
      String stream, Cron cron, T payload, PayloadCodec<T> codec, ScheduleConfig config) {
    parts.requireOpen();
    return parts
        .schedules()
        .register(
            required("name", name),
            required("stream", stream),
            required("cron", cron),
            required("config", config),
            codec.schemaVersion(),
            PlannedWriter.encode(payload, codec).clone());
  }

  /** It comes from the caller, so what its type says of null isn't sure. */
  private static <V> V required(String field, @Nullable V value) {
    if (value == null) {
      throw new InvalidInputException(field, "it is null: give one");
    }
    return value;
  }

  @Override
  public Optional<ScheduleInfo> get() {
    parts.requireOpen();
    return parts.schedules().find(name);
  }

  @Override
  public List<Instant> nextTimes(int count) {
    parts.requireOpen();
    if (count < 0) {
      throw new InvalidInputException("count", "must be 0 or above, not " + count);
    }
    return parts.schedules().require(name).nextTimes(count);
  }

  @Override
  public ScheduleStatus status() {
    parts.requireOpen();
    ScheduleInfo schedule = parts.schedules().require(name);
    Long id = schedule.lastMessageId();
    Optional<MessageInfo> message =
        id == null
            ? Optional.empty()
            : parts.schedules().stream(schedule)
                .flatMap(stream -> parts.lookup().find(stream, id))
                .filter(found -> isOf(schedule, found.scheduledRun()));
    return new ScheduleStatus(schedule, message.orElse(null));
  }

  /** The stream of the last message may have been another one. */
  private static boolean isOf(ScheduleInfo schedule, @Nullable ScheduledRun run) {
    return run != null
        && run.schedule().equals(schedule.name())
        && run.scheduledAt().equals(schedule.lastScheduledAt());
  }

  @Override
  public Produced runNow() {
    parts.requireOpen();
    return parts.schedules().runNow(name);
  }

  @Override
  public boolean suspend() {
    parts.requireOpen();
    return parts.schedules().suspend(name);
  }

  @Override
  public boolean resume() {
    parts.requireOpen();
    return parts.schedules().resume(name);
  }

  @Override
  public void destroy() {
    parts.requireDestroyAllowed("schedule \"" + name + "\"");
    parts.schedules().destroy(name);
  }
}
