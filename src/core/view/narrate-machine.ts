/** Says in a line what happens to a machine of the fleet. */
import { plural } from "../../text/words.ts";
import type { EventOf } from "../log/event.ts";
import { bad, type Line, quiet } from "./line.ts";

export function machineText({ machine, state, capacity }: EventOf<"machine.changed">): Line {
  switch (state) {
    case "ready":
      return quiet(`Machine ${machine} is ready for ${plural(capacity, "job")} at once`);
    case "draining":
      return quiet(`Machine ${machine} takes no more jobs`);
    case "silent":
      return bad(`Machine ${machine} gives no sign of life; others take its jobs over`);
    case "gone":
      return quiet(`Machine ${machine} has left the fleet`);
  }
}
