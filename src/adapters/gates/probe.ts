/** Probes whether the gate's tests test the tree they run in: they must fail if its sources are unusable. */
import { createHash } from "node:crypto";
import { type Failure, failure } from "../../core/failure.ts";
import type { GateReport, Probed } from "../../core/gate.ts";
import type { JobId } from "../../core/job.ts";
import { type Failed, failedWith, hasFailed } from "../../core/result.ts";
import { probeOutput } from "../../core/view/gate-runs.ts";
import type { GatedTree } from "../../ports/gate.ts";
import type { ProgramEnd, ProgramLimits } from "../../ports/programs.ts";
import type { Transcript, Transcripts } from "../../ports/transcripts.ts";
import type { Workspace, Workspaces } from "../../ports/workspaces.ts";
import { redactCommand } from "../../text/redact.ts";
import type { TopFiles } from "./detect.ts";
import { type GateCommand, shellCommand, testCommands } from "./gate-command.ts";
import { filesOf, makeUnusable, type TreeFiles } from "./probe-sources.ts";
import { proposeSetup, SETUP_FILES } from "./propose-setup.ts";
import type { ProvedGates } from "./proved-gates.ts";

export type GateParts = {
  readonly repository: string;
  readonly workspaces: Workspaces;
  readonly transcripts: Transcripts;
  readonly limits: ProgramLimits;
  /** Removes secrets, because names of failures go into the log. */
  readonly redact: (text: string) => string;
  /** Gates that were proved before; without it every gate is probed each time. */
  readonly proved?: ProvedGates;
  /** What else affects the commands: how workspaces are set up, which programs are found. */
  readonly surroundings?: string;
  /** Other command lines that Skein runs here, of an agent or the set-up: their programs are not sources under test. */
  readonly alsoRun?: readonly string[];
};

type ProbeParts = GateParts & {
  readonly execute: (
    job: JobId,
    command: GateCommand,
    place: GatePlace,
    signal: AbortSignal,
  ) => Promise<ProbeEnded>;
};

export type GatePlace = { readonly workspace: Workspace; readonly transcript: Transcript };
export type ProbeEnded = { readonly end: ProgramEnd; readonly text: string };

/** `report`: the result on the intact tree. A command that failed there proves nothing here. */
export async function probeGate(
  parts: ProbeParts,
  tree: GatedTree,
  gate: { readonly commands: readonly GateCommand[]; readonly report: GateReport },
  signal: AbortSignal,
): Promise<Probed | Failed> {
  const greens = new Set(
    gate.report.commands.flatMap(({ name, green, nothingYet }) => (green && !nothingYet ? [name] : [])),
  );
  const tests = testCommands(gate.commands);
  const commands = tests.filter(({ name }) => greens.has(redactCommand(name, parts.redact)));
  if (commands.length === 0)
    return notProbed(
      tests.length === 0 ? "no command of the gate runs tests" : "its tests did not pass before",
    );
  const others = (parts.alsoRun ?? []).map((line) => shellCommand(line, line));
  const run = [...gate.commands, ...others].map(({ command }) => command);
  const files = await filesOf(parts.repository, tree.commit, run, signal);
  if (hasFailed(files)) return signal.aborted ? STOPPED : files;
  if (files.sources.length === 0) return notProbed("there are no source files to try it without");

  const key = keyOf(gate.commands, files, parts.surroundings ?? "");
  if (await parts.proved?.has(key)) return { is: "proved" };
  const probed = await inWorkspace(parts, tree, { commands, files }, signal);
  if (hasFailed(probed) || probed.is !== "proved") return probed;
  const red = tests.filter((command) => !commands.includes(command));
  if (red.length > 0) return notProbed(`${namesOf(red, parts)} failed before it`);
  await parts.proved?.add(key);
  return probed;
}

const namesOf = (commands: readonly GateCommand[], { redact }: ProbeParts): string =>
  commands.map(({ name }) => redactCommand(name, redact)).join(", ");

type Probe = { readonly commands: readonly GateCommand[]; readonly files: TreeFiles };

/** Probes in a workspace that is thrown away, because no gate may reuse its builds. */
async function inWorkspace(
  parts: ProbeParts,
  { job, commit }: GatedTree,
  probe: Probe,
  signal: AbortSignal,
): Promise<Probed | Failed> {
  const { workspaces, transcripts } = parts;
  const own = probeOutput(job) as JobId;
  const workspace = await workspaces.take({ job: own, commit, use: "probe" }, signal);
  if (hasFailed(workspace)) return workspace;
  const transcript = transcripts.open(own);
  try {
    await makeUnusable(workspace.folder, probe.files.sources, signal);
    return await runAll(parts, own, { ...probe, workspace, transcript }, signal);
  } finally {
    await transcript.close();
    await workspaces.release(workspace);
  }
}

/** Runs the commands; all together may take as long as one command of the gate. */
async function runAll(
  parts: ProbeParts,
  job: JobId,
  { commands, files, ...place }: Probe & GatePlace,
  signal: AbortSignal,
): Promise<Probed | Failed> {
  const limit = AbortSignal.timeout(parts.limits.maxMs);
  const stop = AbortSignal.any([signal, limit]);
  const unclear: string[] = [];
  for (const command of commands) {
    const name = redactCommand(command.name, parts.redact);
    const ended = await parts.execute(job, command, place, stop);
    if (signal.aborted) return STOPPED;
    const is = colourOf(ended);
    if (is === "green" && files.hasTests) {
      return { is: "unproven", failure: unproven(name, files.sources, await setupTexts(files)) };
    }
    if (is === "green") unclear.push(`${name} passes without the sources, but no test files were found`);
    else if (is !== "red") unclear.push(`without the sources, ${name} ${is.not}`);
  }
  return unclear.length > 0 ? notProbed(unclear.join("; ")) : { is: "proved" };
}

/** Red only if the command ran and failed, since it passed with intact sources. */
function colourOf({ end, text }: ProbeEnded): "green" | "red" | { readonly not: string } {
  switch (end.is) {
    case "exited":
      if (end.code === 0) return "green";
      if (end.code === 126 || end.code === 127 || WITHIN_MAKE.test(text))
        return { not: "cannot be started, or what it starts" };
      return NONE_RAN.test(text) ? { not: "finds no tests" } : "red";
    case "killed":
      return "red";
    case "timed-out":
    case "stopped":
      return { not: "takes longer than the gate may" };
    case "unstartable":
      return { not: `cannot be started: ${end.failure.message}` };
  }
}

const WITHIN_MAKE = /^g?make.*\*\*\* \[.*\] Error 12[67]$/m;
/** Words that no test ran. pytest says "collected 0 items / 3 errors" if tests cannot be imported: that is red. */
const NONE_RAN = /^(?:=* ?no tests (?:ran|found|collected)\b|no test files found\b|collected 0 items$)/im;

const STOPPED: Failed = failedWith("cancelled", "the probe of the gate was stopped");

const notProbed = (why: string): Probed => ({ is: "not-probed", why });

/** The files at the top that tell how the tree is set up. */
async function setupTexts({ read }: TreeFiles): Promise<TopFiles> {
  const texts = new Map<string, string | undefined>();
  for (const name of SETUP_FILES) texts.set(name, await read(name));
  return (name) => texts.get(name);
}

function unproven(name: string, sources: readonly string[], top: TopFiles): Failure {
  const count =
    sources.length === 1 ? `only source file (${sources[0]}) was` : `${sources.length} source files were`;
  const message = `your tests pass without your code: "${name}" passed in a workspace whose ${count} made unusable`;
  const isPython = sources.some((file) => file.endsWith(".py"));
  const mending = isPython ? pythonNext(top) : top("package.json") !== undefined ? nodeNext(top) : OTHER_NEXT;
  const named = sources.slice(0, MAX_NAMED).join(", ");
  const more = sources.length > MAX_NAMED ? ` and ${sources.length - MAX_NAMED} more` : "";
  return { ...failure("setup", message, `${mending}\n${OFF}`), detail: `made unusable: ${named}${more}` };
}

const MAX_NAMED = 20;

/** What to do, by the tool whose lock file is there. Without a lock file, both ways are named. */
function pythonNext(top: TopFiles): string {
  const start = "let the gate import the files of its own workspace, in skein.yaml:";
  if (top("uv.lock") !== undefined) return `${start}\ngate: [uv run pytest]`;
  const setup = proposeSetup(pythonAlone(top));
  if (top("poetry.lock") !== undefined)
    return `${start}\nworkspace:\n  setup: poetry install\ngate: [poetry run pytest]`;
  return `${start}
gate: [uv run pytest]
or with an environment in each workspace:
workspace:
  setup: ${setup?.command ?? "python3 -m venv .venv && .venv/bin/pip install -e . pytest"}
gate: [.venv/bin/python -m pytest]`;
}

/** Hides package.json, because a Python tree may have a manifest of JavaScript, too. */
const pythonAlone =
  (top: TopFiles): TopFiles =>
  (name) =>
    name === "package.json" ? undefined : top(name);

const nodeNext = (
  top: TopFiles,
) => `let the tests load the files of their own workspace, and not what is linked or built elsewhere, in skein.yaml:
workspace:
  setup: ${proposeSetup(top)?.command ?? "npm install"}
  share: []`;

const OTHER_NEXT = `let the tests use the files of their own workspace, and build what they run in the gate itself, in skein.yaml:
gate: [<the command that builds>, <the command that runs the tests>]
workspace:
  setup: <the command that installs what they need>`;

const OFF = `or, if these tests are right as they are:
gateProbe: off`;

/** Equal if commands, set-up, manifests, lock files and configuration are equal. */
const keyOf = (commands: readonly GateCommand[], { settings }: TreeFiles, surroundings: string): string =>
  createHash("sha256")
    .update(JSON.stringify([1, commands, settings, surroundings]))
    .digest("hex");
