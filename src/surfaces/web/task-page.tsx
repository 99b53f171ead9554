/** Everything about one task: its brief, attempts, what it changed, what its worker writes right now. */
import { useEffect, useRef, useState } from "preact/hooks";
import type { JobId } from "../../core/job.ts";
import { taskOf } from "../../core/log/state.ts";
import type { Task, TaskId } from "../../core/task.ts";
import { rowsOf } from "../../core/view/view.ts";
import { ask, command } from "./api.ts";
import { count, dollars, duration, harmless, line, plural, withoutEscapes } from "./format.ts";
import { stateText } from "./graph.tsx";
import { followText } from "./live-run.ts";
import { addressOf, type PageParts } from "./parts.ts";

const MAX_TRANSCRIPT_CHARS = 200_000;
const MAX_DIFF_LINES = 5_000;

export function TaskPage(parts: PageParts & { readonly task: string }) {
  const { run, seen, view, route, live } = parts;
  const id = parts.task as TaskId;
  const task = seen.state.tasks.get(id);
  const back = <a href={addressOf({ run, tab: route.tab })}>← back to the run</a>;
  if (!task)
    return (
      <section>
        {back}
        <p>There is no such task at this event.</p>
      </section>
    );
  const row = rowsOf(seen.state).find((one) => one.task === id)!;
  const spans = seen.story.spans.filter(
    (span) => (span.kind === "work" || span.kind === "plan") && span.tasks[0] === id,
  );
  const below = rowsOf(seen.state).filter(({ task: other }) => other.startsWith(`${id}.`));
  const failed = view.setbacks.filter((one) => one.task === id);
  const landing = view.landings.find(({ members }) => members.some((member) => member.task === id));
  return (
    <section class="task" aria-label={`Task ${row.name}`}>
      {back}
      <h2>
        {line(row.name)} <span class={`pill ${row.word}`}>{stateText(row)}</span>
      </h2>
      <p class="pre">{harmless(task.spec.description)}</p>
      <dl>
        {task.spec.acceptance !== "" && <Fact name="Accepted if" value={task.spec.acceptance} />}
        <Fact
          name="May change"
          value={
            task.spec.terms?.loose || task.spec.scope.length === 0 ? "any file" : task.spec.scope.join(", ")
          }
        />
        {task.spec.after.length > 0 && (
          <Fact
            name="After"
            value={task.spec.after.map((other) => taskOf(seen.state, other).spec.key).join(", ")}
          />
        )}
        {task.spec.agent && <Fact name="Specialist" value={task.spec.agent} />}
        <Fact name="Cost" value={`${count(task.used.tokens)} tokens, ${dollars(task.used.microdollars)}`} />
        {landing && <Fact name="Landed as" value={landing.commit} />}
        {task.state.is === "failed" && <Fact name="Failed" value={task.state.failure.message} />}
        {task.state.is === "cancelled" && <Fact name="Cancelled" value={task.state.reason} />}
      </dl>
      {live.isLive && !row.isSettled && <Cancel run={run} task={id} name={row.name} />}
      {below.length > 0 && (
        <details open={below.length < 20}>
          <summary>{plural(below.length, "task")} below it</summary>
          <ul>
            {below.slice(0, 200).map((one) => (
              <li>
                <a href={addressOf({ run, tab: route.tab, task: one.task })}>{line(one.name)}</a>{" "}
                {stateText(one)}
              </li>
            ))}
          </ul>
        </details>
      )}
      {failed.length > 0 && (
        <>
          <h3>Failed attempts</h3>
          <ul>
            {failed.map(({ attempt, failure }) => (
              <li>
                {attempt === undefined ? "planner" : `attempt ${attempt}`}: {harmless(failure.message)}
                {failure.next && <span class="quiet"> {harmless(failure.next)}</span>}
              </li>
            ))}
          </ul>
        </>
      )}
      <HandoffPart state={task.state} />
      <Diff key={`${task.base} ${commitOf(task)}`} run={run} from={task.base} to={commitOf(task)} />
      {spans.length > 0 && (
        <>
          <h3>Transcripts</h3>
          {spans
            .slice(-5)
            .toReversed()
            .map(({ job, from, to, number, kind }, i) => (
              <Transcript
                key={job}
                run={run}
                job={job}
                isOpen={i === 0}
                title={`${kind === "plan" ? "Planner, turn" : "Worker, attempt"} ${number}, ${to === undefined ? "running" : duration(to - from)}`}
              />
            ))}
        </>
      )}
    </section>
  );
}

const Fact = ({ name, value }: { readonly name: string; readonly value: string }) => (
  <>
    <dt>{name}</dt>
    <dd class="pre">{harmless(value)}</dd>
  </>
);

const commitOf = ({ state }: Task): string | undefined =>
  "handoff" in state && state.handoff ? state.handoff.commit : undefined;

function HandoffPart({ state }: { readonly state: Task["state"] }) {
  if (!("handoff" in state) || !state.handoff) return null;
  const { status, summary, filesChanged, metrics, concerns, suggestions, flags = [] } = state.handoff;
  return (
    <>
      <h3>Handoff: {status}</h3>
      <p class="pre">{harmless(summary)}</p>
      <p class="quiet">
        {plural(filesChanged.length, "file")} changed, +{metrics.linesAdded} −{metrics.linesRemoved}
      </p>
      {[
        ...concerns.map((text) => `concern: ${text}`),
        ...suggestions.map((text) => `suggestion: ${text}`),
        ...flags.map((text) => `changes the gate: ${text}`),
      ].map((text) => (
        <p>{harmless(text)}</p>
      ))}
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
          if (confirm(`Cancel ${name}?`))
            void command(run, { type: "cancel", task }).then((why) => setNote(why ?? "Cancelling."));
        }}
      >
        Cancel task
      </button>
      <output>{note && harmless(note)}</output>
    </p>
  );
}

function Diff({
  run,
  from,
  to,
}: {
  readonly run: string;
  readonly from: string;
  readonly to: string | undefined;
}) {
  const [diff, setDiff] = useState<string | undefined>();
  const [error, setError] = useState<string | undefined>();
  useEffect(() => {
    if (to === undefined || from === "") return;
    void ask<{ diff: string }>(`/api/runs/${encodeURIComponent(run)}/diff/${from}/${to}`).then((answer) =>
      "error" in answer ? setError(answer.error) : setDiff(answer.value.diff),
    );
  }, [run, from, to]);
  if (to === undefined) return null;
  const lines = diff?.split("\n") ?? [];
  return (
    <>
      <h3>Change</h3>
      {error && <p class="bad">{harmless(error)}</p>}
      <pre class="diff" tabIndex={0} role="group" aria-label="Diff">
        {lines.slice(0, MAX_DIFF_LINES).map((text) => (
          <span class={classOf(text)}>{`${harmless(text.slice(0, 2_000))}\n`}</span>
        ))}
        {lines.length > MAX_DIFF_LINES && `… ${lines.length - MAX_DIFF_LINES} more lines`}
      </pre>
    </>
  );
}

function classOf(text: string): string {
  if (/^(?:diff |index |\+\+\+|---|new file|deleted file|rename |similarity )/.test(text)) return "file";
  return text.startsWith("@@") ? "hunk" : text.startsWith("+") ? "add" : text.startsWith("-") ? "del" : "";
}

type TranscriptProps = {
  readonly run: string;
  readonly job: JobId;
  readonly title: string;
  readonly isOpen: boolean;
};

function Transcript({ run, job, title, isOpen }: TranscriptProps) {
  const [open, setOpen] = useState(isOpen);
  const [text, setText] = useState("");
  const box = useRef<HTMLPreElement>(null);
  useEffect(() => {
    if (!open) return;
    let all = "";
    return followText(
      `/api/runs/${encodeURIComponent(run)}/transcripts/${encodeURIComponent(job)}`,
      (part) => {
        all = (all + withoutEscapes(part)).slice(-MAX_TRANSCRIPT_CHARS);
        setText(all);
      },
    );
  }, [run, job, open]);
  useEffect(() => {
    if (box.current) box.current.scrollTop = box.current.scrollHeight;
  }, [text]);
  return (
    <details open={open} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>{title}</summary>
      <pre class="transcript" ref={box} tabIndex={0} role="group" aria-label={title}>
        {text === "" ? "Nothing was written yet." : harmless(text)}
      </pre>
    </details>
  );
}
