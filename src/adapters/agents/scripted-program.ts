/**
 * The scripted agent's program: `scripted-program <script>`, with its brief named by the environment. It starts for
 * every turn, so it imports very little.
 */
import fs from "node:fs";
import path from "node:path";
import {
  type Fault,
  type PlanTurn,
  readScript,
  type Script,
  type ScriptedCall,
  type WorkAttempt,
  type WorkTurn,
} from "../../ports/agent-script.ts";
import { takeStep } from "./scripted-steps.ts";

type PlanAsked = { readonly kind: "plan"; readonly turn: number; readonly scratchpad: string };
type WorkAsked = {
  readonly kind: "work";
  readonly attempt: number;
  readonly goOn?: { readonly isAnswering?: true };
  readonly conversation?: readonly { readonly is: string; readonly attempt?: number }[];
};
type Asked = { readonly task: string; readonly spec: { readonly key: string } } & (PlanAsked | WorkAsked);

async function main(scriptFile: string | undefined): Promise<void> {
  const { SKEIN_BRIEF: briefFile, SKEIN_HANDOFF: handoffFile } = process.env;
  if (!scriptFile || !briefFile || !handoffFile)
    refuse("needs a script, $SKEIN_BRIEF and $SKEIN_HANDOFF; skein sets both");
  const read = readScript(fs.readFileSync(scriptFile, "utf8"));
  if (read.is === "broken")
    refuse(`the script ${scriptFile} cannot be used:\n  ${read.problems.join("\n  ")}`);
  const brief = fs.readFileSync(briefFile, "utf8");
  const asked = JSON.parse(brief) as Asked;
  if (asked.kind === "plan") plan(read.script, asked, { brief, handoffFile });
  else await work(read.script, asked, { brief, handoffFile });
}

type Desk = { readonly brief: string; readonly handoffFile: string };

function plan(script: Script, asked: Asked & PlanAsked, desk: Desk): void {
  const turns = listFor(script.plans, asked) ?? [];
  const given = Number(/\[script: answer (\d+)\]\s*$/.exec(asked.scratchpad)?.[1] ?? 0);
  const fault = turns[asked.turn - 1];
  const turn = fault && !("answer" in fault) ? fault : turns.filter((t) => "answer" in t)[given];
  record(desk, turn ? `turn ${asked.turn}, after ${given} answers` : "nothing more in the script");
  wait(turn?.delayMs ?? 0);
  if (turn === undefined) answer(desk, { scratchpad: asked.scratchpad, tasks: [] });
  else finish(desk, turn, given);
}

function finish(desk: Desk, turn: PlanTurn, given: number): void {
  if ("end" in turn) fail(turn.end);
  else if ("text" in turn) process.stdout.write(`${turn.text}\n`);
  else {
    // A planner remembers only its scratchpad, which the engine keeps.
    const scratchpad = `${turn.answer["scratchpad"] ?? ""}\n[script: answer ${given + 1}]`.trim();
    answer(desk, { ...turn.answer, scratchpad });
  }
}

async function work(script: Script, asked: Asked & WorkAsked, desk: Desk): Promise<void> {
  const attempts = listFor(script.work, asked);
  if (!attempts) refuse(`the script has no work for ${asked.task} ("${asked.spec.key}")`);
  const calls = (asked.conversation ?? []).filter(({ is }) => is === "call");
  // Chosen by the attempt in which the conversation began, so that a lost turn skips no entry.
  const place = Math.min(calls[0]?.attempt ?? asked.attempt, attempts.length);
  const after = calls.length === 0 ? "" : `, after ${calls.length} calls`;
  record(desk, `attempt ${asked.attempt}, entry ${place} of ${attempts.length}${after}`);
  const { goesOn = [], answers, ...first }: WorkAttempt = attempts[place - 1]!;
  if (asked.goOn?.isAnswering) return conclude(desk, answering(answers));
  const { steps = [], end } = calls.length === 0 ? first : (goesOn[calls.length - 1] ?? FORGOTTEN);
  for (const [i, step] of steps.entries()) {
    const problem = takeStep(step, process.cwd(), wait);
    if (problem) refuse(`step ${i + 1} of attempt ${place} at ${asked.spec.key}: ${problem}`);
  }
  await conclude(desk, end);
}

const FORGOTTEN: WorkTurn = {
  end: { handoff: { status: "failed", summary: "the script does not say how to continue" } },
};

const answering = (answers: string | undefined): WorkTurn["end"] => ({
  handoff:
    answers === undefined
      ? { status: "blocked", summary: "the script has no answer" }
      : { status: "complete", summary: answers },
});

async function call(called: ScriptedCall): Promise<void> {
  const { sendCall } = await import("../call-desk/send.ts");
  const [tool, input] =
    "spawn" in called ? (["spawn_subtask", called.spawn] as const) : (["ask", called.ask] as const);
  const sent = await sendCall({ tool, input }, process.env);
  if (sent.is !== "taken")
    refuse(`the call was not accepted: ${sent.is === "outside" ? sent.is : sent.message}`);
}

async function conclude(desk: Desk, end: WorkTurn["end"]): Promise<void> {
  const output = process.env["SKEIN_OUTPUT_FILE"];
  if (end === "done") {
    if (output) answer(desk, `DONE|${output}`);
    else answer(desk, { status: "complete", summary: "done (scripted)" });
  } else if (typeof end !== "object" || "exit" in end) fail(end);
  else if ("spawn" in end || "ask" in end) await call(end);
  else if ("answer" in end)
    answer(
      desk,
      end.answer.replaceAll("$OUTPUT", () => output ?? ""),
    );
  else answer(desk, end.handoff);
}

const listFor = <T>(lists: Readonly<Record<string, readonly T[]>>, { task, spec }: Asked) =>
  [task, spec.key].flatMap((name) => (Object.hasOwn(lists, name) ? [lists[name]!] : []))[0];

/** Records the brief, and which entry of the script answered; the content is the same in every run. */
const record = ({ brief, handoffFile }: Desk, chosen: string) =>
  fs.writeFileSync(
    path.join(path.dirname(handoffFile), "asked.json"),
    `${JSON.stringify({ chosen, asked: JSON.parse(brief) }, undefined, 2)}\n`,
  );

/** Renamed into place, so that the file is always whole. */
function answer({ handoffFile }: Desk, value: object | string): void {
  const draft = `${handoffFile}.draft`;
  fs.writeFileSync(draft, typeof value === "string" ? value : JSON.stringify(value));
  fs.renameSync(draft, handoffFile);
}

function fail(fault: Fault): void {
  if (fault === "crash") process.kill(process.pid, "SIGKILL");
  if (fault === "crash" || fault === "hang") wait(Number.POSITIVE_INFINITY);
  if (fault === "outage") console.error("the model's server did not answer (scripted)");
  if (fault === "outage") process.exitCode = EX_TEMPFAIL;
  else if (typeof fault === "object") process.exitCode = fault.exit;
}

/** "Try again later", as sysexits.h has it. */
const EX_TEMPFAIL = 75;

function wait(ms: number): void {
  if (ms > 0) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

function refuse(why: string): never {
  console.error(`scripted agent: ${why}`);
  process.exit(1);
}

// The compile cache is for this program only, not for programs that a step runs.
delete process.env["NODE_COMPILE_CACHE"];
await main(process.argv[2]);
