/** Shows everything about one task: its brief, attempts, changes, and its worker's current output. */
import { useMemo, useState } from "preact/hooks";
import { taskOf } from "../../core/log/state.ts";
import type { Task, TaskId } from "../../core/task.ts";
import { proofLabel, spentLabel, stateLabel } from "../../core/view/labels.ts";
import { gatingIn, rowOf, type TaskRow, treeOf } from "../../core/view/rows.ts";
import { changeOf, failedAttemptsOf, landingOf, scopeLabel } from "../../core/view/task-facts.ts";
import { command } from "./api.ts";
import { Attempts } from "./attempts.tsx";
import { Diff } from "./diff.tsx";
import { harmless, line, plural } from "./format.ts";
import { addressOf, type PageParts } from "./parts.ts";
import { Word } from "./word.tsx";

const MAX_BELOW = 200;

type TaskParts = PageParts & { readonly id: TaskId; readonly task: Task };

export function TaskPage(parts: PageParts & { readonly task: string }) {
  const { run, seen, route, live, word } = parts;
  const id = parts.task as TaskId;
  const task = seen.state.tasks.get(id);
  const back = <a href={addressOf({ run, tab: route.tab })}>Back to the run</a>;
  if (!task)
    return (
      <section>
        {back}
        <p>There is no such task at this event.</p>
      </section>
    );
  const row = rowOf(seen.state, id, { depth: 0, gating: gatingIn(seen.state) });
  const change = changeOf(task);
  return (
    <section class="task" aria-label={`Task ${line(row.name)}`}>
      {back}
      <h2>
        {line(row.name)} <span class={`pill ${row.word}`}>{line(stateLabel(row, word))}</span>
      </h2>
      {failedAttemptsOf(seen, id).map(({ of, attempt, failure }) => (
        <p class="why">
          {of === "plan" ? "Its planner" : `Attempt ${attempt}`} failed: {line(failure.message, 300)}
        </p>
      ))}
      <Brief {...parts} id={id} task={task} />
      {live.isLive && !row.isSettled && <Cancel run={run} task={id} name={row.name} />}
      <Below {...parts} id={id} task={task} />
      <Outcome {...parts} id={id} task={task} />
      {change && <Diff key={`${change.from} ${change.to}`} run={run} {...change} />}
      <Attempts {...parts} id={id} />
    </section>
  );
}

function Brief({ seen, task: { spec, state, used } }: TaskParts) {
  const after = spec.after.map((other) => taskOf(seen.state, other).spec.key).join(", ");
  return (
    <>
      <p class="pre">{harmless(spec.description)}</p>
      <dl>
        <Fact name="Accepted if" value={spec.acceptance} />
        <Fact name="May change" value={scopeLabel(spec)} />
        <Fact name="After" value={after} />
        <Fact name="Specialist" value={spec.agent ?? ""} />
        <Fact name="Cost" value={spentLabel(used)} />
        <Fact name="Failed" value={state.is === "failed" ? state.failure.message : ""} />
        <Fact name="Cancelled" value={state.is === "cancelled" ? state.reason : ""} />
      </dl>
    </>
  );
}

/** Renders nothing if the value is empty. */
function Fact({ name, value }: { readonly name: string; readonly value: string }) {
  if (value === "") return null;
  return (
    <>
      <dt>{name}</dt>
      <dd class="pre">{harmless(value)}</dd>
    </>
  );
}

/** The tasks that its planner split it into, and the subtasks that its worker delegated. */
function Below({ run, route, seen, word, id }: TaskParts) {
  const { state } = seen;
  const below = useMemo(
    () => treeOf(state).filter((one) => one.id.startsWith(`${id}.`)),
    [state, state.tasks.size, id],
  );
  if (below.length === 0) return null;
  const gating = gatingIn(state);
  const rows = below.slice(0, MAX_BELOW).map((one) => rowOf(state, one.id, { depth: one.depth, gating }));
  const isSubtask = ({ task }: TaskRow) => taskOf(state, task).spec.spawn !== undefined;
  return (
    <details open={below.length < 20}>
      <summary>{plural(below.length, "task")} below it</summary>
      <ul>
        {rows.map((one) => (
          <li key={one.task}>
            <a href={addressOf({ run, tab: route.tab, task: one.task })}>{line(one.name)}</a>{" "}
            <span class="quiet">
              {isSubtask(one) && "subtask, "}
              {line(stateLabel(one, word))}
            </span>
          </li>
        ))}
      </ul>
    </details>
  );
}

/** The worker's report, and the facts from the repository. */
function Outcome({ seen, id, task: { state } }: TaskParts) {
  if (!("handoff" in state) || !state.handoff) return null;
  const { status, summary, filesChanged, metrics, concerns, suggestions, flags = [], commit } = state.handoff;
  const landing = landingOf(seen, id);
  return (
    <>
      <h3>
        <Word is="handoff">Handoff</Word>: {status}
      </h3>
      <p class="pre">{harmless(summary)}</p>
      {[
        ...concerns.map((text) => `Concern: ${text}`),
        ...suggestions.map((text) => `Suggestion: ${text}`),
      ].map((text) => (
        <p class="pre">{harmless(text)}</p>
      ))}
      <h3>
        <Word is="evidence">Evidence</Word>
      </h3>
      <dl>
        <Fact name="Commit" value={commit ?? "nothing was changed"} />
        <Fact
          name={`${plural(filesChanged.length, "file")}, +${metrics.linesAdded} −${metrics.linesRemoved}`}
          value={filesChanged.slice(0, MAX_BELOW).join("\n")}
        />
        <Fact name="Changes the gate or agents' instructions" value={flags.join("\n")} />
        {landing && (
          <Fact
            name="Landed"
            value={`${landing.commit}: ${proofLabel(landing)}${landing.flaky.length > 0 ? `; flaky: ${landing.flaky.join(", ")}` : ""}`}
          />
        )}
      </dl>
    </>
  );
}

function Cancel({ run, task, name }: { readonly run: string; readonly task: TaskId; readonly name: string }) {
  const [note, setNote] = useState<string | undefined>();
  return (
    <p class="row">
      <button
        type="button"
        class="danger"
        onClick={() => {
          if (confirm(`Cancel ${line(name)}?`))
            void command(run, { type: "cancel", task }).then((why) => setNote(why ?? "Cancelling."));
        }}
      >
        Cancel task
      </button>
      <output>{note && harmless(note)}</output>
    </p>
  );
}
