/** Shows the attempts at a task: why one failed, what it changed, what the gate reported, and its transcript. */
import { useEffect, useRef, useState } from "preact/hooks";
import type { Failure } from "../../core/failure.ts";
import type { JobId } from "../../core/job.ts";
import type { TaskId } from "../../core/task.ts";
import { type GateRunView, gateRunEnd, gateRunsOfTask, namesLabel } from "../../core/view/gate-runs.ts";
import type { JobSpan } from "../../core/view/job-spans.ts";
import { dollars, onLabel, openJobLabel } from "../../core/view/labels.ts";
import { placeOf } from "../../core/view/rows.ts";
import { failedAttemptsOf, jobsOf } from "../../core/view/task-facts.ts";
import { useAnswer } from "./answer.ts";
import { api, followTranscript } from "./api.ts";
import { DiffFiles } from "./diff.tsx";
import { count, duration, harmless, line, withoutEscapes } from "./format.ts";
import { GateOutput } from "./gate-output.tsx";
import { GateRow } from "./gate-row.tsx";
import type { PageParts } from "./parts.ts";
import { Word } from "./word.tsx";

const MAX_TRANSCRIPT_CHARS = 200_000;

type TaskParts = PageParts & { readonly id: TaskId };

/** Newest first, with one of them open. */
export function Attempts(parts: TaskParts) {
  const { seen, id } = parts;
  const spans = jobsOf(seen, id);
  const failed = failedAttemptsOf(seen, id);
  const why = ({ kind, number }: JobSpan) => {
    const retried = failed.find(({ of, attempt }) => of === kind && kind === "work" && attempt === number);
    const task = seen.state.tasks.get(id);
    if (retried || task?.state.is !== "failed") return retried?.failure;
    return kind === "work" && number === task.tries.attempts ? task.state.failure : undefined;
  };
  return (
    <>
      {spans.length > 0 && (
        <h3>
          <Word is="attempt">Attempts</Word>
        </h3>
      )}
      {spans.toReversed().map((span, i) => (
        <Attempt key={span.job} {...parts} span={span} isOpen={i === 0} failure={why(span)} />
      ))}
    </>
  );
}

type AttemptProps = TaskParts & {
  readonly span: JobSpan;
  readonly isOpen: boolean;
  readonly failure: Pick<Failure, "message" | "next"> | undefined;
};

function Attempt({ run, seen, word, id, span, isOpen, failure }: AttemptProps) {
  const [open, setOpen] = useState(isOpen);
  const { job, from, to, number, kind, machine, isFailed, spent } = span;
  const { tokens = 0, microdollars = 0 } = spent ?? {};
  const title = `${kind === "plan" ? "Planner, turn" : "Worker, attempt"} ${number}`;
  const now = openJobLabel(word, placeOf(seen.state, seen.state.running.get(job)));
  const end = to === undefined ? now : `${isFailed ? "failed after" : "done in"} ${duration(to - from)}`;
  const gates = open && kind === "work" ? gateRunsOfTask(seen, id, number) : [];
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
      {gates.map((gate) => (
        <Gate
          key={gate.output}
          run={run}
          gate={gate}
          isOpen={failure !== undefined && isLastRed(gate, gates)}
        />
      ))}
      {failure && kind === "work" && <AttemptChange run={run} task={id} attempt={number} />}
      {open && <Transcript run={run} job={job} title={title} isOver={to !== undefined} />}
    </details>
  );
}

/** The last red gate run, which is why the attempt was refused. */
const isLastRed = (gate: GateRunView, gates: readonly GateRunView[]): boolean =>
  gate === gates.findLast(({ green }) => green === false);

type GateProps = { readonly run: string; readonly gate: GateRunView; readonly isOpen: boolean };

function Gate({ run, gate: { of, job, at, ms, green, isRunning, members, output }, isOpen }: GateProps) {
  const names = namesLabel(members.map(({ name }) => name));
  return (
    <GateRow
      at={at}
      end={gateRunEnd({ green, isRunning })}
      tone={green === undefined ? "" : green ? "well" : "bad"}
      ms={ms}
      about={of === "criterion" ? "its success criterion" : `gate for ${names}, ${job}`}
      isOpen={isOpen}
    >
      {() => (
        <GateOutput
          key={`${green}`}
          run={run}
          output={output}
          hasPassed={green === true}
          isRunning={isRunning === true}
        />
      )}
    </GateRow>
  );
}

type ChangeProps = { readonly run: string; readonly task: TaskId; readonly attempt: number };

/** The change of a failed attempt, from its branch or its salvaged work; requested when opened. */
function AttemptChange({ run, task, attempt }: ChangeProps) {
  const [open, setOpen] = useState(false);
  return (
    <details onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>What attempt {attempt} changed</summary>
      {open && <KeptChange run={run} task={task} attempt={attempt} />}
    </details>
  );
}

function KeptChange({ run, task, attempt }: ChangeProps) {
  const { value, error } = useAnswer(() => api.attempt(run, task, attempt), [run, task, attempt]);
  if (error !== undefined) return <p class="bad">{harmless(error)}</p>;
  if (value?.is === "missing") return <p class="quiet">{harmless(value.why)}</p>;
  return <DiffFiles diff={value?.lines.join("\n") ?? ""} />;
}

type TranscriptProps = {
  readonly run: string;
  readonly job: JobId;
  readonly title: string;
  readonly isOver: boolean;
};

function Transcript({ run, job, title, isOver }: TranscriptProps) {
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
        all = ""; // The stream starts again from the beginning.
      },
    });
  }, [run, job]);
  useEffect(() => {
    if (box.current) box.current.scrollTop = box.current.scrollHeight;
  }, [text]);
  return (
    <pre class="transcript" ref={box} tabIndex={0} role="group" aria-label={`Transcript: ${title}`}>
      {text === "" ? `Nothing was written${isOver ? "" : " yet"}.` : harmless(withoutEscapes(text))}
    </pre>
  );
}
