/** Does a tree pass? The gate's commands, one after the other, in a side workspace that keeps its ignored files. */
import { statSync } from "node:fs";
import path from "node:path";
import { failure } from "../../core/failure.ts";
import type { CommandReport, GateReport } from "../../core/gate.ts";
import type { JobId } from "../../core/job.ts";
import { PROBLEM_CLASSES, type Problem } from "../../core/repair.ts";
import type { Found } from "../../core/tool-output/found.ts";
import { readOutput } from "../../core/tool-output/read-output.ts";
import type { Gate, GatedTree, GateRun } from "../../ports/gate.ts";
import type { ProgramEnd, ProgramLimits, Programs } from "../../ports/programs.ts";
import { type Failed, hasFailed } from "../../ports/repository.ts";
import type { Transcript, Transcripts } from "../../ports/transcripts.ts";
import type { Workspace, Workspaces } from "../../ports/workspaces.ts";
import type { Conflicted, Conflicts } from "../repositories/conflicts.ts";
import { gateChanges } from "./gate-changes.ts";
import { classOf, type GateCommand } from "./gate-command.ts";
import { Limiter } from "./limiter.ts";
import type { GateRules, Rules } from "./rules.ts";
import { withTestedFiles } from "./tested-files.ts";

export type CommandGateParts = {
  /** The folder of the user's repository. */
  readonly repository: string;
  readonly rules: GateRules;
  readonly conflicts: Conflicts;
  readonly workspaces: Workspaces;
  readonly programs: Programs;
  readonly transcripts: Transcripts;
  readonly limits: ProgramLimits;
  /** Blots out secrets: names of failures go into the log. */
  readonly redact: (text: string) => string;
  /** Gates that may run at the same time: they are heavy, and often share ports and caches. */
  readonly maxAtOnce: number;
};

export class CommandGate implements Gate {
  readonly #parts: CommandGateParts;
  readonly #limiter: Limiter;
  readonly #over = new AbortController();
  #preparing: { readonly commit: string; readonly ready: Promise<void> } | undefined;

  constructor(parts: CommandGateParts) {
    this.#parts = parts;
    this.#limiter = new Limiter(parts.maxAtOnce);
  }

  async run(tree: GatedTree, signal: AbortSignal): Promise<GateRun | Failed> {
    const rules = await this.#parts.rules.of(tree.rules, signal);
    if (hasFailed(rules)) return rules;
    const conflicted = await this.#parts.conflicts.in(tree.commit, signal);
    if (hasFailed(conflicted)) return signal.aborted ? STOPPED : conflicted;
    const first = conflicted.length === 0 ? [] : [unresolved(conflicted, this.#parts.redact)];
    if (rules.commands.length === 0) return summary(first);
    const ran = await this.#limiter.run(() => this.#runAll(tree, rules, signal), signal);
    if (ran === undefined) return STOPPED;
    return hasFailed(ran) ? ran : summary([...first, ...ran]);
  }

  /** One at a time: to copy or install what a tree needs may take longer than several gates. */
  prepare(tree: GatedTree): void {
    if (this.#preparing || this.#over.signal.aborted) return;
    const ready = this.#makeReady(tree, this.#over.signal).catch(() => {}); // Whoever needs it does it then.
    this.#preparing = { commit: tree.commit, ready };
    void ready.finally(() => {
      this.#preparing = undefined;
    });
  }

  /** Ends what is being prepared, and waits for that. */
  async close(): Promise<void> {
    this.#over.abort();
    await this.#preparing?.ready;
  }

  /** Under a name of its own: the job itself holds the place where its gate runs. */
  async #makeReady({ job, commit, rules: of }: GatedTree, signal: AbortSignal): Promise<void> {
    const { workspaces, rules } = this.#parts;
    const found = await rules.of(of, signal);
    if (hasFailed(found) || found.commands.length === 0 || signal.aborted) return;
    const place = await workspaces.take({ job: `${job}.next` as JobId, commit, use: "gate" }, signal);
    if (!hasFailed(place)) await workspaces.release(place);
  }

  /** What is under way for this very tree is sooner done than the same begun anew. */
  async #whenReady(commit: string, signal: AbortSignal): Promise<void> {
    if (this.#preparing?.commit !== commit) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    const stop = () => resolve();
    signal.addEventListener("abort", stop, { once: true });
    await Promise.race([this.#preparing.ready, promise]);
    signal.removeEventListener("abort", stop);
  }

  async changes(from: string, to: string, signal: AbortSignal): Promise<readonly string[] | Failed> {
    const { repository, rules } = this.#parts;
    return gateChanges(repository, rules, { from, to }, signal);
  }

  async #runAll(
    { job, commit }: GatedTree,
    rules: Rules,
    signal: AbortSignal,
  ): Promise<readonly Ran[] | Failed> {
    const { workspaces, transcripts } = this.#parts;
    await this.#whenReady(commit, signal);
    const workspace = await workspaces.take({ job, commit, use: "gate" }, signal);
    if (hasFailed(workspace)) return workspace;
    const transcript = transcripts.open(job);
    try {
      const ran: Ran[] = [];
      for (const command of rules.commands) {
        const one = await this.#runOne(job, command, { workspace, transcript }, signal);
        if (hasFailed(one)) return one;
        ran.push(one);
      }
      return ran;
    } finally {
      await transcript.close();
      await workspaces.release(workspace);
    }
  }

  async #runOne(
    job: JobId,
    { name: line, command }: GateCommand,
    { workspace, transcript }: { readonly workspace: Workspace; readonly transcript: Transcript },
    signal: AbortSignal,
  ): Promise<Ran | Failed> {
    const { programs, limits, redact } = this.#parts;
    const name = redact(line); // Often all that is run, with a token in it; it goes into the log and into proofs.
    transcript.write(`$ ${command.join(" ")}\n`);
    const { folder, environment } = workspace;
    const written: string[] = [];
    const end = await programs.run(
      {
        job,
        command,
        folder,
        environment: { ...environment, CI: "true" },
        limits,
        onOutput: (text) => {
          written.push(text);
          transcript.write(text);
        },
      },
      signal,
    );
    if (end.is === "exited" && end.code !== 0)
      return red(name, redact(end.tail), { text: redact(written.join("")), folder });
    return judged(name, "tail" in end ? { ...end, tail: redact(end.tail) } : end, limits.maxMs);
  }
}

const STOPPED: Failed = { failure: failure("cancelled", "the gate was stopped") };

type Ran = {
  readonly name: string;
  readonly green: boolean;
  readonly failures: readonly Found[];
  /** Failures that are not in the list. */
  readonly more?: number;
  readonly tail: string;
};

/** Markers that somebody forgot are red like a command that fails; without any, nothing is said about them. */
function unresolved(conflicted: readonly Conflicted[], redact: (text: string) => string): Ran {
  const failures = conflicted.map(({ file, blocks }): Found => {
    const more = blocks.length === 1 ? "" : `, and ${blocks.length - 1} more in this file`;
    const message = `a conflict was left in line ${blocks[0]!.first}${more}`;
    return { class: "conflict-markers", name: redact(plainPath(file)), files: [file], message };
  });
  const tail = failures.map(({ name, message }) => `${name}: ${message}`).join("\n");
  return { name: "conflict markers", green: false, failures, tail };
}

/** On one line, whatever the path holds. */
const plainPath = (file: string) => (/\p{Cc}/u.test(file) ? JSON.stringify(file) : file);

/** What failed, as far as the output names it. */
function red(
  name: string,
  tail: string,
  { text, folder }: { readonly text: string; readonly folder: string },
): Ran {
  const has = filesIn(folder);
  const { failures, more, notConfigured } = readOutput({ text, folder, has, class: classOf(name) });
  if (notConfigured !== undefined) {
    // The target's rules ask for it, so this tree has lost it: red, and not to be taken for a broken build.
    const missing = unnamed(name, "not configured", notConfigured);
    return { name, green: false, failures: [missing], tail };
  }
  const note = more === 0 ? "" : `\n(${more} more failures are not named)`;
  const placed = withTestedFiles(failures, folder, has);
  return { name, green: false, failures: placed, more, tail: `${tail}${note}` };
}

const unnamed = (command: string, what: string, message: string): Found => ({
  class: classOf(command),
  name: what,
  files: [],
  message,
});

/** Asked once a path; a place that cannot be looked at is no file. */
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
    return statSync(file, { throwIfNoEntry: false })?.isFile() ?? false;
  } catch {
    return false; // A folder's name that is a file's, a name that is too long: nothing that could be repaired.
  }
}

/** A command that does not end by itself is red; one that could not be started says nothing about the tree. */
function judged(name: string, end: ProgramEnd, maxMs: number): Ran | Failed {
  switch (end.is) {
    case "exited":
      return { name, green: end.code === 0, failures: [], tail: end.tail };
    case "killed":
      return halted(name, `killed by ${end.signal}`, end.tail);
    case "timed-out":
      return halted(name, `no end within ${Math.round(maxMs / 1000)} s`, end.tail);
    case "stopped":
      return STOPPED;
    case "unstartable":
      return {
        failure: failure(
          "repository",
          `the gate's command "${name}" could not be started: ${end.failure.message}`,
          end.failure.next ?? "install what it needs, or name the gate's commands in skein.yaml",
        ),
      };
  }
}

const halted = (name: string, how: string, tail: string): Ran => ({
  name,
  green: false,
  failures: [unnamed(name, how, tail)],
  tail,
});

function commandReport({ name, green, failures, more = 0 }: Ran): CommandReport {
  const classes = PROBLEM_CLASSES.filter((kind) => failures.some((found) => found.class === kind));
  return {
    name,
    green,
    failures: failures.map((found) => found.name),
    ...(more > 0 && { more }),
    ...(classes.length > 0 && { classes }),
  };
}

function summary(ran: readonly Ran[]): GateRun {
  const report: GateReport = {
    commands: ran.map(commandReport),
  };
  const reds = ran.filter(({ green }) => !green);
  const problems = reds.flatMap(({ name, failures, tail }): Problem[] =>
    failures.length === 0
      ? [{ class: classOf(name), name, files: [], message: tail }]
      : failures.map((found) => problem(name, found)),
  );
  return { report, problems, tail: reds.map(({ name, tail }) => `${name}:\n${tail}`).join("\n") };
}

/** Under the name that `failuresOf` gives it. */
const problem = (command: string, { cause, ...found }: Found): Problem => ({
  ...found,
  name: `${command}: ${found.name}`,
  ...(cause === undefined ? {} : { cause }),
});
