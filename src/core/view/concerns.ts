/** Tells whether an event is about a task, or about a task below it. */
import { taskOfJob } from "../job.ts";
import type { Event } from "../log/event.ts";
import type { TaskId } from "../task.ts";

export function concerns(event: Event, task: TaskId): boolean {
  const isBelow = (id: string) => id === task || id.startsWith(`${task}.`);
  if ("task" in event) return isBelow(event.task);
  switch (event.type) {
    case "job.started":
      return event.job.kind === "land"
        ? event.job.members.some((m) => isBelow(m.task))
        : event.job.kind !== "check" && isBelow(event.job.task);
    case "job.ended":
      return isBelow(taskOfJob(event.job) ?? "");
    case "batch.landed":
      return event.members.some((m) => isBelow(m.task));
    case "landing.turned":
      return event.requeue.some(isBelow);
    default:
      return false;
  }
}
