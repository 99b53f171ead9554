/** One run of the gate in a list: when, how it ended, for how long and of what; what it wrote is a click away. */
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { precise } from "../../text/words.ts";
import { line, time } from "./format.ts";

type Props = {
  readonly at: number;
  readonly end: string;
  readonly tone: "well" | "bad" | "";
  readonly ms: number | undefined;
  readonly about: string;
  readonly isOpen?: boolean;
  /** Drawn once it is open. */
  readonly children: () => ComponentChildren;
};

export function GateRow({ at, end, tone, ms, about, isOpen: isOpenFirst = false, children }: Props) {
  const [isOpen, setOpen] = useState(isOpenFirst);
  return (
    <details open={isOpen} onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>
        <span class="quiet">{time(at)}</span> <b class={tone}>{end}</b>
        {ms !== undefined && ` after ${precise(ms)}`}: {line(about, 200)}
      </summary>
      {isOpen && children()}
    </details>
  );
}
