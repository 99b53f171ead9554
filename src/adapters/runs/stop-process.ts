/** How is a process asked to stop its run? By the signals of Ctrl-C, where it runs. */
import { messageOf } from "../../core/failure.ts";
import { type Failed, failedWith } from "../../core/result.ts";

/** Twice means at once. */
export function stopProcess({ pid }: { readonly pid: number }, isUrgent: boolean): Failed | undefined {
  try {
    process.kill(pid, "SIGINT");
    if (isUrgent) process.kill(pid, "SIGTERM"); // Another name: two equal signals can be delivered as one.
    return undefined;
  } catch (error) {
    if (Object(error).code === "ESRCH") return undefined; // It ended by itself, just now.
    return failedWith("repository", `process ${pid} cannot be asked to stop: ${messageOf(error)}`);
  }
}
