/** Everything about one task: its brief, attempts, what it changed, what its worker writes right now. */
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { JobId } from "../../core/job.ts";
import { taskOf } from "../../core/log/state.ts";
import type { Task, TaskId } from "../../core/task.ts";
import {
  dollars,
  onLabel,
  openJobLabel,
  proofLabel,
  spentLabel,
  stateLabel,
} from "../../core/view/labels.ts";
import { gatingIn, placeOf, rowOf, type TaskRow, treeOf } from "../../core/view/rows.ts";
import type { JobSpan } from "../../core/view/story.ts";
import { changeOf, failedAttemptsOf, jobsOf, landingOf, scopeLabel } from "../../core/view/task-facts.ts";
import { command, followTranscript } from "./api.ts";
import { Diff } from "./diff.tsx";
import { count, duration, harmless, line, plural, withoutEscapes } from "./format.ts";
import { addressOf, type PageParts } from "./parts.ts";
import { Word } from "./word.tsx";

const MAX_TRANSCRIPT_CHARS = 200_000;
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
      <Attempts {...parts} id={id} task={task} />
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

/** Nothing if it is empty. */
function Fact({ name, value }: { readonly name: string; readonly value: string }) {
  if (value === "") return null;
  return (
    <>
      <dt>{name}</dt>
      <dd class="pre">{harmless(value)}</dd>
    </>
  );
}

/** What its planner split it into, and what its worker delegated. */
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

/** What its worker says, and what the repository shows. */
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
            value={`${landing.commit}: ${proofLabel(landing.proof)}${landing.flaky.length > 0 ? `; flaky: ${landing.flaky.join(", ")}` : ""}`}
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

/** Newest first, one of them open with its transcript; why one failed, where that was said. */
function Attempts({ run, seen, word, id }: TaskParts) {
  const spans = jobsOf(seen, id);
  const failed = failedAttemptsOf(seen, id);
  const why = ({ kind, number }: JobSpan) =>
    failed.find(({ of, attempt }) => of === kind && kind === "work" && attempt === number)?.failure;
  return (
    <>
      {spans.length > 0 && (
        <h3>
          <Word is="attempt">Attempts</Word>
        </h3>
      )}
      {spans.toReversed().map((span, i) => (
        <Attempt
          key={span.job}
          run={run}
          now={openJobLabel(word, placeOf(seen.state, seen.state.running.get(span.job)))}
          span={span}
          isOpen={i === 0}
          failure={why(span)}
        />
      ))}
    </>
  );
}

type AttemptProps = {
  readonly run: string;
  /** What it is about, if it has no end. */
  readonly now: string;
  readonly span: JobSpan;
  readonly isOpen: boolean;
  readonly failure: { readonly message: string; readonly next?: string } | undefined;
};

function Attempt({ run, now, span, isOpen, failure }: AttemptProps) {
  const [open, setOpen] = useState(isOpen);
  const { job, from, to, number, kind, machine, isFailed, tokens, microdollars } = span;
  const title = `${kind === "plan" ? "Planner, turn" : "Worker, attempt"} ${number}`;
  const end = to === undefined ? now : `${isFailed ? "failed after" : "done in"} ${duration(to - from)}`;
  return (
    <details name="attempt" open={open} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        {line(title + onLabel(machine))}, {end}
        {tokens > 0 && `, ${count(tokens)} tokens${microdollars > 0 ? `, ${dollars(microdollars)}` : ""}`}
      </summary>
      {failure && (
        <p class="pre">
          {harmless(failure.message)} <span class="quiet">{failure.next && harmless(failure.next)}</span>
        </p>
      )}
      {open && <Transcript run={run} job={job} title={title} />}
    </details>
  );
}

type TranscriptProps = { readonly run: string; readonly job: JobId; readonly title: string };

function Transcript({ run, job, title }: TranscriptProps) {
  const [text, setText] = useState("");
  const box = useRef<HTMLPreElement>(null);
  useEffect(() => {
    let all = "";
    return followTranscript(run, job, {
      on: {
        message: (part) => {
          all = (all + part).slice(-MAX_TRANSCRIPT_CHARS);
          setText(all);
        },
      },
      onState: () => {
        all = ""; // It begins anew.
      },
    });
  }, [run, job]);
  useEffect(() => {
    if (box.current) box.current.scrollTop = box.current.scrollHeight;
  }, [text]);
  return (
    <pre class="transcript" ref={box} tabIndex={0} role="group" aria-label={`Transcript: ${title}`}>
      {text === "" ? "Nothing was written yet." : harmless(withoutEscapes(text))}
    </pre>
  );
}
