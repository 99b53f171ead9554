/** Asks the process of a run to stop, by the signals of Ctrl-C. */
import { messageOf } from "../../core/failure.ts";
import { type Failed, failedWith } from "../../core/result.ts";

/** A second signal means at once. */
export function stopProcess({ pid }: { readonly pid: number }, isUrgent: boolean): Failed | undefined {
  try {
    process.kill(pid, "SIGINT");
    if (isUrgent) process.kill(pid, "SIGTERM"); // Two equal signals could be delivered as one.
    return undefined;
  } catch (error) {
    if (Object(error).code === "ESRCH") return undefined; // The process has just ended by itself.
    return failedWith("repository", `process ${pid} cannot be asked to stop: ${messageOf(error)}`);
  }
}
