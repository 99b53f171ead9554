/** Makes a line for people about what happens to a machine of the fleet. */
import { duration, plural } from "../../text/words.ts";
import type { EventOf } from "../log/event.ts";
import { bad, type Line, quiet } from "./line.ts";

export const machineText = (event: EventOf<"machine.changed"> | EventOf<"machine.cut-off">): Line =>
  event.type === "machine.changed" ? changedText(event) : cutOffText(event);

function changedText({ machine, state, capacity }: EventOf<"machine.changed">): Line {
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

const cutOffText = ({ machine, heldMs }: EventOf<"machine.cut-off">): Line =>
  bad(
    `Machine ${machine} kept the fleet's database waiting for ${duration(heldMs)}; its session was ended. ` +
      "If that happens again: skein fleet revoke",
  );
