/** Runs the gate's commands on a tree, one after the other, in a workspace that keeps its ignored files. */
import { lstatSync } from "node:fs";
import path from "node:path";
import { failure } from "../../core/failure.ts";
import type { GateReport, Probed } from "../../core/gate.ts";
import type { JobId } from "../../core/job.ts";
import { type Failed, failedWith, hasFailed } from "../../core/result.ts";
import type { GateChange } from "../../core/rules/gate-changes.ts";
import type { Gate, GatedTree, GateRun } from "../../ports/gate.ts";
import type { ProgramEnd, Programs } from "../../ports/programs.ts";
import { commandEnd } from "../../text/failing-part.ts";
import { redactCommand } from "../../text/redact.ts";
import { orAbort } from "../or-abort.ts";
import type { Conflicted, Conflicts } from "../repositories/conflicts.ts";
import { gateChanges } from "./gate-changes.ts";
import { classOf, type GateCommand, lineOf, testCommands } from "./gate-command.ts";
import { leftoversFor } from "./leftovers.ts";
import { type Limiter, limiterOf } from "./limiter.ts";
import { type GateParts, type GatePlace, type ProbeEnded, probeGate } from "./probe.ts";
import type { GateRules, Rules } from "./rules.ts";
import { type EndedGateCommand, runOf } from "./run-of.ts";
import { specialInTheWay } from "./special-in-way.ts";
import { withTestedFiles } from "./tested-files.ts";
import type { ToolProblem } from "./tool-output/found.ts";
import { readOutput } from "./tool-output/read-output.ts";
import { whatFailed } from "./tool-output/what-failed.ts";
import { A_GATE, type Runnable, whyUnrunnable } from "./unrunnable.ts";

export type CommandGateParts = GateParts & {
  readonly rules: GateRules;
  readonly conflicts: Conflicts;
  readonly programs: Programs;
  /** How many gates may run at the same time: they are heavy, and often share ports and caches. */
  readonly maxAtOnce: number;
  /** If true, each run gets a fresh workspace, and the files that runs leave there are thrown away. */
  readonly isAlwaysFresh?: boolean;
};

export class CommandGate implements Gate {
  readonly #parts: CommandGateParts;
  readonly #limiter: Limiter;
  readonly #over = new AbortController();
  #preparing: { readonly commit: string; readonly ready: Promise<void> } | undefined;

  constructor(parts: CommandGateParts) {
    this.#parts = parts;
    this.#limiter = limiterOf(parts.maxAtOnce);
  }

  async run(tree: GatedTree, signal: AbortSignal): Promise<GateRun | Failed> {
    const rules = await this.#parts.rules.of(tree.rules, signal);
    if (hasFailed(rules)) return rules;
    const conflicted = await this.#parts.conflicts.in(tree.commit, signal);
    if (hasFailed(conflicted)) return signal.aborted ? STOPPED : conflicted;
    const first = conflicted.length === 0 ? [] : [unresolved(conflicted, this.#parts.redact)];
    if (rules.commands.length === 0) return runOf(first);
    let { output = tree.job } = tree;
    const onRun: GatedTree["onRun"] = (one) => {
      output = one.output;
      tree.onRun?.(one);
    };
    const ran = await this.#limiter(() => this.#runAll({ ...tree, onRun }, rules, signal), signal);
    if (ran === undefined) return STOPPED;
    if (hasFailed(ran)) return ran;
    const { stale, leftovers } = ran;
    const said = runOf([...first, ...ran.commands], this.#parts.transcripts.pathOf?.(output));
    const isRed = said.report.commands.some(({ green }) => !green);
    return { ...said, ...(isRed && stale !== undefined && { stale }), ...(leftovers && { leftovers }) };
  }

  /** Makes a workspace ready in the background, one at a time: the set-up may take longer than several gates. */
  prepare(tree: GatedTree): void {
    if (this.#preparing || this.#over.signal.aborted || this.#parts.isAlwaysFresh) return;
    const ready = this.#makeReady(tree, this.#over.signal).catch(() => {}); // The gate then makes it ready.
    this.#preparing = { commit: tree.commit, ready };
    void ready.finally(() => {
      this.#preparing = undefined;
    });
  }

  async close(): Promise<void> {
    this.#over.abort();
    await this.#preparing?.ready;
  }

  /** Uses another job name, because the job itself holds the workspace of its gate. */
  async #makeReady({ job, commit, rules: of }: GatedTree, signal: AbortSignal): Promise<void> {
    const { workspaces, rules } = this.#parts;
    const found = await rules.of(of, signal);
    if (hasFailed(found) || found.commands.length === 0 || signal.aborted) return;
    const place = await workspaces.take({ job: `${job}.next` as JobId, commit, use: "gate" }, signal);
    if (!hasFailed(place)) await workspaces.release(place);
  }

  /** Waits for a preparation of this tree that is under way, because that is faster than starting anew. */
  async #whenReady(commit: string, signal: AbortSignal): Promise<void> {
    if (this.#preparing?.commit === commit) await orAbort(this.#preparing.ready, signal).catch(() => {}); // Aborted.
  }

  /** Counts as a gate against `maxAtOnce`, because it is as heavy as one. */
  async probe(tree: GatedTree, report: GateReport, signal: AbortSignal): Promise<Probed | Failed> {
    const rules = await this.#parts.rules.of(tree.rules, signal);
    if (hasFailed(rules)) return rules;
    const parts = { ...this.#parts, execute: this.#execute.bind(this) };
    const gate = { commands: rules.commands, report };
    return (await this.#limiter(() => probeGate(parts, tree, gate, signal), signal)) ?? STOPPED;
  }

  async changes(from: string, to: string, signal: AbortSignal): Promise<readonly GateChange[] | Failed> {
    const { repository, rules } = this.#parts;
    return gateChanges(repository, rules, { from, to }, signal);
  }

  async #runAll(tree: GatedTree, rules: Rules, signal: AbortSignal): Promise<RanAll | Failed> {
    const { workspaces, transcripts, isAlwaysFresh } = this.#parts;
    const { job, commit, isFresh = isAlwaysFresh } = tree;
    await this.#whenReady(commit, signal);
    const { onStep } = tree;
    const want = {
      job,
      commit,
      use: "gate" as const,
      ...(onStep && { onStep }),
      ...(isFresh && { isFresh }),
    };
    const workspace = await workspaces.take(want, signal);
    onStep?.(undefined);
    if (hasFailed(workspace)) return workspace;
    const transcript = transcripts.openNext(tree.output ?? job);
    const from = performance.now();
    const ran: EndedGateCommand[] = [];
    const isForTests = new Set(testCommands(rules.commands));
    let isSpoilt = false;
    try {
      for (const command of rules.commands) {
        tree.onCommand?.(redactCommand(command.name, this.#parts.redact));
        const asked = { command, isForTests: isForTests.has(command) };
        const one = await this.#runOne(tree, asked, { workspace, transcript }, signal);
        if (hasFailed(one)) return one;
        ran.push(one);
      }
      const commands = ran.some(({ counted = 0 }) => counted > 0) ? ran.map(withoutSilence) : ran;
      const { stale } = workspace;
      const said = commands.flatMap(({ green, tail }) => (green ? [] : [tail]));
      const mayBeUsed = said.length > 0 && !isFresh;
      const leftovers = mayBeUsed && (await leftoversFor(workspace, said.join("\n"), this.#parts, signal));
      isSpoilt = Boolean(leftovers); // The next run in it could fail for the same reason.
      return { commands, ...(leftovers && { leftovers }), ...(stale !== undefined && { stale }) };
    } finally {
      await transcript.close();
      const isWhole = ran.length === rules.commands.length && !ran.some(({ setup }) => setup);
      const green = isWhole ? { green: ran.every((one) => one.green) } : {};
      tree.onRun?.({ output: transcript.name, ms: Math.round(performance.now() - from), ...green });
      await workspaces.release(workspace, isSpoilt);
    }
  }

  async #runOne(
    tree: GatedTree,
    { command, isForTests }: { readonly command: GateCommand; readonly isForTests: boolean },
    place: GatePlace,
    signal: AbortSignal,
  ): Promise<EndedGateCommand | Failed> {
    const { limits, redact, repository } = this.#parts;
    // The name is often the whole command line, perhaps with a token, and goes into the log and into proofs.
    const name = redactCommand(command.name, redact);
    const line = redactCommand(lineOf(command), redact);
    const { end, text: written } = await this.#execute(tree.job, command, place, signal);
    const { folder } = place.workspace;
    const isOver = end.is === "timed-out" || (end.is === "exited" && end.code !== 0);
    const failing = { folder, text: written, isTimedOut: end.is === "timed-out" };
    const special = isOver ? await specialInTheWay(failing) : undefined;
    const withSpecial = (ran: EndedGateCommand) =>
      special === undefined ? ran : { ...ran, tail: `${redact(special)}\n${ran.tail}` };
    const how = howEnded(end, limits.maxMs);
    if (end.is !== "exited") {
      const halt = judged({ name, line }, end, how, () =>
        whatFailed({ text: redact(written), folder, how, isHalted: true }, []),
      );
      return hasFailed(halt) ? halt : withSpecial(halt);
    }
    const { code, isCut = false } = end;
    const [text, tail] = [redact(written), redact(end.tail)];
    const reason = await whyUnrunnable({ line, code, text, folder }, repository, tree, signal);
    // A special file left by the tree's own commands is the tree's fault, whatever the tool calls it.
    const found: Runnable =
      special !== undefined && reason.is === "unrunnable" ? { is: "ran", tests: undefined } : reason;
    const ran: EndedGateCommand =
      code === 0
        ? { name, line, green: true, failures: [], tail }
        : await red({ name, line }, { text, tail, folder, how, isCut, isForTests });
    return withSpecial(asFound(ran, found));
  }

  async #execute(
    job: JobId,
    { command, env }: GateCommand,
    { workspace, transcript }: GatePlace,
    signal: AbortSignal,
  ): Promise<ProbeEnded> {
    const { programs, limits, redact } = this.#parts;
    transcript.write(`$ ${redactCommand(command.join(" "), redact)}\n`);
    const { folder, environment } = workspace;
    const written: string[] = [];
    const end = await programs.run(
      {
        job,
        command,
        folder,
        environment: { ...environment, CI: "true", ...env },
        limits,
        onOutput: (text) => {
          written.push(text);
          transcript.write(text);
        },
      },
      signal,
    );
    transcript.write(
      `${written.at(-1)?.endsWith("\n") === false ? "\n" : ""}${commandEnd(howEnded(end, limits.maxMs))}\n`,
    );
    return { end, text: written.join("") };
  }
}

function howEnded(end: ProgramEnd, maxMs: number): string {
  switch (end.is) {
    case "exited":
      return `exit code ${end.code}`;
    case "killed":
      return `killed by ${end.signal}`;
    case "timed-out":
      return `no end within ${Math.round(maxMs / 1000)} s`;
    case "stopped":
      return "stopped";
    case "unstartable":
      return `could not be started: ${end.failure.message}`;
  }
}

const STOPPED: Failed = failedWith("cancelled", "the gate was stopped");

type RanAll = Pick<GateRun, "stale" | "leftovers"> & { readonly commands: readonly EndedGateCommand[] };

/** Corrects a command's result by what its output and the tree show beyond the exit code. */
function asFound(ran: EndedGateCommand, found: Runnable): EndedGateCommand {
  const { name, line, failures, tail } = ran;
  switch (found.is) {
    case "ran":
      return {
        ...ran,
        ...(found.perhaps !== undefined && { perhaps: found.perhaps }),
        ...(found.tests !== undefined && { counted: found.tests }),
        ...(found.tests !== undefined && ran.green && { tests: found.tests, ...found.list }),
      };
    case "nothing-yet":
      return { name, line, green: true, failures: [], tail, nothingYet: true };
    case "unrunnable": {
      const what = unnamed(name, `cannot be run: ${found.what}`, tail);
      const isLost = failures.some((each) => each.name === NOT_CONFIGURED);
      const { failure: setup, isSilent } = found;
      return {
        ...{ name, line },
        green: false,
        failures: isLost ? failures : [what],
        unnamed: true,
        tail,
        setup,
        ...(isSilent && { isSilent }),
      };
    }
  }
}

/** A command that ran no tests may pass if another command of the gate runs tests. */
const withoutSilence = (ran: EndedGateCommand): EndedGateCommand =>
  ran.isSilent ? { name: ran.name, line: ran.line, green: true, failures: [], tail: ran.tail } : ran;

/** Forgotten conflict markers fail the gate like a failing command. */
function unresolved(conflicted: readonly Conflicted[], redact: (text: string) => string): EndedGateCommand {
  const failures = conflicted.map(({ file, blocks }): ToolProblem => {
    const more = blocks.length === 1 ? "" : `, and ${blocks.length - 1} more in this file`;
    const message = `a conflict was left in line ${blocks[0]!.first}${more}`;
    return { class: "conflict-markers", name: redact(plainPath(file)), files: [file], message };
  });
  const tail = failures.map(({ name, message }) => `${name}: ${message}`).join("\n");
  return { name: "conflict markers", line: "conflict markers", green: false, failures, tail };
}

const plainPath = (file: string) => (/\p{Cc}/u.test(file) ? JSON.stringify(file) : file);

type Named = Pick<EndedGateCommand, "name" | "line">;

type Written = {
  readonly text: string;
  readonly tail: string;
  readonly folder: string;
  readonly how: string;
  readonly isCut: boolean;
  readonly isForTests: boolean;
};

async function red({ name, line }: Named, said: Written): Promise<EndedGateCommand> {
  const { text, folder, isCut, isForTests } = said;
  const has = filesIn(folder);
  const read = readOutput({ text, folder, has, isForTests, class: classOf(name) });
  const { failures, more, notConfigured, tests, isOfPackages, hiding, blocked } = read;
  if (notConfigured !== undefined) {
    // The target's gate names this command, so this tree has lost it: the gate fails, but no build is broken.
    const missing = unnamed(name, NOT_CONFIGURED, notConfigured);
    return { name, line, green: false, failures: [missing], unnamed: true, tail: said.tail };
  }
  const tail = whatFailed(said, failures);
  const note = more === 0 ? "" : `\n(${more} more failures are not named)`;
  // A failure of its own: a cut output may name fewer failures than the target's, and must not count as better.
  const unread = isCut
    ? [unnamed(name, CUT, "a process that it left behind still held its output open")]
    : [];
  const placed = [...(await withTestedFiles(failures, folder, has)), ...unread];
  return {
    ...{ name, line, green: false, failures: placed, more },
    ...((failures.length === 0 || read.isNameless) && { unnamed: true }),
    ...(tests !== undefined && { tests }),
    ...(isOfPackages && { isOfPackages }),
    ...(hiding !== undefined && { hiding }),
    ...(blocked !== undefined && { blocked }),
    tail: `${tail}${note}`,
  };
}

const NOT_CONFIGURED = "not configured";
const CUT = "its output could not be read to its end";

const unnamed = (command: string, what: string, message: string): ToolProblem => ({
  class: classOf(command),
  name: what,
  files: [],
  message,
});

/** Looks up which paths are files, each once. A link may lead anywhere, and does not count as a file. */
function filesIn(folder: string): (file: string) => boolean {
  const known = new Map<string, boolean>();
  return (file) => {
    const before = known.get(file);
    if (before !== undefined) return before;
    const isThere = isFile(path.join(folder, file));
    known.set(file, isThere);
    return isThere;
  };
}

function isFile(file: string): boolean {
  try {
    return lstatSync(file, { throwIfNoEntry: false })?.isFile() ?? false;
  } catch {
    return false; // A part of the path is a file, or a name is too long.
  }
}

type Halted = Exclude<ProgramEnd, { is: "exited" }>;

/** A command that did not exit by itself counts as red; one that could not be started says nothing about the tree. */
function judged(
  { name, line }: Named,
  end: Halted,
  how: string,
  said: () => string,
): EndedGateCommand | Failed {
  switch (end.is) {
    case "killed":
    case "timed-out":
      return halted({ name, line }, how, said());
    case "stopped":
      return STOPPED;
    case "unstartable": {
      const { kind, message, next = "install what it needs" } = end.failure;
      const why = `the gate's command "${line}" cannot be run: ${message}`;
      // A machine without disk space or processes is not the command's fault, and may recover soon.
      if (kind !== "agent-failed") return failedWith("repository", why, next);
      const setup = failure("setup", why, `${next}; or name another gate in skein.yaml:\n${A_GATE}`);
      return { ...halted({ name, line }, `cannot be run: ${message}`, message), setup };
    }
  }
}

const halted = ({ name, line }: Named, how: string, tail: string): EndedGateCommand => ({
  ...{ name, line },
  green: false,
  failures: [unnamed(name, how, tail)],
  unnamed: true,
  tail,
});
