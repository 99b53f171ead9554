/** Finds out whether the base fails only because of the sandbox, which no agent can fix, but only the user. */
import { type Failure, failure } from "../../core/failure.ts";
import { failuresOf } from "../../core/gate.ts";
import { type Failed, failedWith, hasFailed } from "../../core/result.ts";
import type { Gate, GatedTree, GateRun } from "../../ports/gate.ts";
import { LET_SET_UP } from "./unrunnable.ts";

type LookOutsideParts = {
  readonly inside: Gate;
  /** Runs the same commands as the user, in a workspace where no candidate has been. */
  readonly outside: Pick<Gate, "run">;
  readonly isConfined: () => Promise<boolean>;
  readonly network: boolean;
};

/**
 * A candidate never runs outside, because hostile code would only have to fail. A failure must occur twice inside
 * and not outside, or a flaky test would stop the run.
 */
export function lookingOutside({ inside, outside, isConfined, network }: LookOutsideParts): Gate {
  const known = new Map<string, Failure | undefined>();
  const find = async (tree: GatedTree, first: GateRun | Failed, signal: AbortSignal) => {
    tree.onStep?.("a workspace outside of the sandbox, where the gate is run once more");
    const free = await outside.run(tree, signal);
    if (hasFailed(free) || free.setup) return undefined;
    const passed = new Set(failuresOf(free.report));
    const only = (run: GateRun | Failed) => wrongIn(run).filter((name) => !passed.has(name));
    if (only(first).length === 0) return undefined;
    tree.onStep?.("a fresh workspace in the sandbox, where the gate is run once more");
    const again = await inside.run({ ...tree, isFresh: true }, signal);
    const lasting = new Set(only(again));
    const names = only(first).filter((name) => lasting.has(name));
    return names.length === 0 ? undefined : doesNotRun(names, again, network);
  };
  const run = async (tree: GatedTree, signal: AbortSignal): Promise<GateRun | Failed> => {
    const first = await inside.run(tree, signal);
    if (!tree.isBase || wrongIn(first).length === 0) return first;
    if (!known.has(tree.commit) && (await isConfined())) {
      const found = signal.aborted ? undefined : await find(tree, first, signal);
      // Stopped before it is known whether the base fails by itself or because of the sandbox.
      if (signal.aborted) return STOPPED;
      known.set(tree.commit, found);
    }
    const setup = known.get(tree.commit);
    if (setup === undefined) return first;
    return { ...(hasFailed(first) ? NOTHING : first), setup };
  };
  return {
    run,
    prepare: (tree) => inside.prepare(tree),
    probe: (tree, report, signal) => inside.probe(tree, report, signal),
    changes: (from, to, signal) => inside.changes(from, to, signal),
  };
}

const STOPPED: Failed = failedWith("cancelled", "the gate was stopped");
const NOTHING = { report: { commands: [] }, problems: [], tail: "" };

/** The names of the failures; a workspace that could not be set up counts as one failure. */
function wrongIn(run: GateRun | Failed): readonly string[] {
  if (hasFailed(run)) return run.failure.kind === "cancelled" ? [] : [SETUP];
  const names = failuresOf(run.report);
  return run.setup && names.length === 0 ? [SETUP] : names;
}

const SETUP = "workspace.setup";

function doesNotRun(names: readonly string[], run: GateRun | Failed, network: boolean): Failure {
  const words = hasFailed(run) ? run.failure.message : run.tail;
  const setup = hasFailed(run) ? undefined : run.setup;
  const all = [...new Set(names.map((name) => `\`${name.replace(UNRUNNABLE, "")}\``))];
  const some = all.slice(0, MAX_NAMED).join(", ");
  const more = all.length > MAX_NAMED ? ` and ${all.length - MAX_NAMED} more` : "";
  const does = all.length > 1 ? "fail in the sandbox and pass" : "fails in the sandbox and passes";
  const [, missing] = names.map((name) => UNRUNNABLE.exec(name)).find((match) => match !== null) ?? [];
  const said = missing ?? endOf(words);
  const why = `the gate does not run in the sandbox: on the untouched base, ${some}${more} ${does} outside of it`;
  const message = said === "" ? why : `${why}:${said.includes("\n") ? "\n" : " "}${said}`;
  return { ...failure("setup", message, nextOf(network, setup)), detail: words };
}

/** How the gate reports a command that cannot be run. */
const UNRUNNABLE = /: cannot be run: (.*)$/s;
const MAX_NAMED = 5;
const MAX_CHARS = 600;

/** The end of a text, cut at the beginning of a line if possible, else of a word. */
function endOf(text: string): string {
  const words = text.trim();
  if (words.length <= MAX_CHARS) return words;
  const end = words.slice(-MAX_CHARS - 1);
  return `… ${end.replace(end.includes("\n") ? /^[^\n]*\n\s*/ : /^\S*\s+/, "")}`;
}

/**
 * What the user can do. If each workspace can install what is missing, that is proposed before switching the
 * sandbox off.
 */
function nextOf(network: boolean, setup: Failure | undefined): string {
  const lines = [
    "`gateSandbox: off` (tests that agents write then run as you)",
    ...(network ? [] : ["`network: true` (if the tests need servers)"]),
    "or `workspace: { share: [<an ignored folder of your checkout>] }` (if they need what is in it)",
  ].join(", ");
  return setup?.next?.startsWith(LET_SET_UP)
    ? `${setup.next}\nor, if that cannot be, choose one line for skein.yaml: ${lines}`
    : `choose one line for skein.yaml: ${lines}`;
}
