/** Shows the health of a run: the target and its gate, what is not done and why, agents and their accounts. */
import type { ComponentChildren } from "preact";
import { wallTime } from "../../core/log/state.ts";
import { elapsedMs } from "../../core/view/elapsed.ts";
import { healthLabel, leftoversLabel, machinesIn, throughputLabel } from "../../core/view/labels.ts";
import { givenUpTexts } from "../../core/view/task-facts.ts";
import { unfinishedOf } from "../../core/view/view.ts";
import { machineLabel } from "../../core/view/view-machines.ts";
import { undoneText } from "../../core/view/view-reasons.ts";
import { duration, harmless, line, plural, time } from "./format.ts";
import { useLater } from "./later.ts";
import type { PageParts } from "./parts.ts";

const MAX_ITEMS = 200;

export function Health({ view, seen, live, word }: PageParts) {
  const history = useLater(() => unfinishedOf(seen), [seen, view.events], undefined);
  const { target, tally, counts } = view;
  const { green, red } = seen.story.checks;
  const speed = throughputLabel(view);
  return (
    <section aria-label="Health">
      <h2>The target branch</h2>
      <p class={target.health === "red" ? "bad" : ""}>
        {healthLabel(view)}
        {target.tip !== "" && (
          <>
            {" "}
            at <code>{target.tip.slice(0, 10)}</code>
          </>
        )}
        . {plural(green, "check")} passed, {red} failed; the gate ran {plural(tally.gate.runs, "time")} in{" "}
        {duration(tally.gate.ms)}.
      </p>
      {view.probed && view.probed.is !== "proved" && (
        <p class="bad">
          {harmless(view.probed.is === "unproven" ? view.probed.failure.message : view.probed.why)}
        </p>
      )}
      {view.leftovers && <p class="bad">{harmless(leftoversLabel(view.leftovers))}</p>}
      <Part name={`Failing for ${duration(tally.red.ms)} in all`}>
        {tally.red.spans.map(({ from, ms, isOver, failures, by }) => (
          <>
            {time(wallTime(seen.state, from))}, for {duration(ms)}
            {isOver ? "" : " so far"}: {line(failures.join("; "), 300)}
            {by.length > 0 && ` (repaired by ${line(by.map(({ name }) => name).join(", "), 100)})`}
          </>
        ))}
      </Part>
      <Part name="Flaky tests">{history?.flaky.map((test) => line(test, 200))}</Part>
      <h2>Agents</h2>
      <p>
        {plural(counts.done, "task")} done in {duration(elapsedMs(view, live.look))}
        {speed && `, ${speed}`}. At most {tally.agents.mostAtOnce} agents at once,{" "}
        {Math.round(tally.agents.share * 100)} % busy.
      </p>
      <Part name="Machines">{machinesIn(view, word).map((one) => line(machineLabel(one), 300))}</Part>
      <Part name="Accounts that cannot be called">
        {view.accounts.map(({ account, is, reason, until }) => (
          <>
            {line(account)} {is === "refused" ? "refuses its key" : "is rate limited"}
            {until !== undefined && ` until ${time(until)}`}: {line(reason, 300)}
          </>
        ))}
      </Part>
      {view.unreachable && (
        <p class="bad">
          The agent of {plural(view.unreachable.tasks, "task")} cannot be reached since{" "}
          {time(view.unreachable.since)}: {line(view.unreachable.reason, 300)}
        </p>
      )}
      <Part name="Not done">{history?.undone.map((one) => line(undoneText(one), 300))}</Part>
      <Part name="Given up">
        {history && givenUpTexts({ ...history, times: view.times }).map((text) => line(text, 300))}
      </Part>
      <Part name="Unfinished">{history?.left.map((text) => line(text, 300))}</Part>
      <Part name="Concerns of those who worked">
        {history?.concerns.map(({ name, text, isOpen }) => (
          <>
            {line(name, 60)}: {line(text, 300)}{" "}
            <span class="quiet">{isOpen ? "" : "(its planner knows)"}</span>
          </>
        ))}
      </Part>
    </section>
  );
}

/** Renders nothing without content. */
function Part({
  name,
  children,
}: {
  readonly name: string;
  readonly children: readonly ComponentChildren[] | undefined;
}) {
  if (!children?.length) return null;
  return (
    <>
      <h3>
        {name} ({children.length})
      </h3>
      <ul>
        {children.slice(0, MAX_ITEMS).map((one) => (
          <li>{one}</li>
        ))}
      </ul>
    </>
  );
}
