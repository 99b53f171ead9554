/** One gate run in a list: its time, result, duration and tasks; its output opens with a click. */
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
  /** Rendered only when open. */
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
