/** How do the gate and set-up commands run? Behind the sandbox, where there is one, in the workspace's own folders. */
import { dirname, join } from "node:path";
import type { Program, ProgramEnd, Programs } from "../../ports/programs.ts";
import { type Failed, hasFailed } from "../../ports/repository.ts";
import { whyUnstartable } from "../programs/command.ts";
import { hasFetched } from "./caches.ts";
import type { Command, Sandbox, SandboxPlace } from "./sandbox.ts";

export type ConfinedProgramsOptions = {
  readonly programs: Programs;
  /** Opened by the first command. */
  readonly sandbox: () => Promise<Sandbox | Failed>;
  /** Of a set-up command: if it fails with the user's downloads for reading, it is tried with downloads of its own. */
  readonly mayFetch?: boolean;
};

export class ConfinedPrograms implements Programs {
  readonly #options: ConfinedProgramsOptions;

  constructor(options: ConfinedProgramsOptions) {
    this.#options = options;
  }

  async run(program: Program, signal: AbortSignal): Promise<ProgramEnd> {
    const { programs, mayFetch = false } = this.#options;
    const sandbox = await this.#options.sandbox();
    if (hasFailed(sandbox)) return { is: "unstartable", failure: sandbox.failure };
    if (sandbox.level === "none") return programs.run(program, signal);
    const why = await whyUnstartable(program); // Else the sandbox itself is what can be started.
    if (why) return { is: "unstartable", failure: why };
    const folder = cachesOf(program.folder);
    const run = (may: "keep" | "fill") =>
      programs.run({ ...program, command: wrapped(sandbox, program, { folder, may }) }, signal);
    if (mayFetch && hasFetched(folder)) return run("fill");
    const end = await run("keep");
    const isRed = end.is === "exited" && end.code !== 0;
    return mayFetch && isRed && !signal.aborted ? run("fill") : end;
  }

  endLeftovers: Programs["endLeftovers"] = (job) => this.#options.programs.endLeftovers(job);
}

/** Beside the work tree, in the folder of the workspace: it lasts as long as that does. */
export const cachesOf = (tree: string): string => join(dirname(tree), "caches");

function wrapped(sandbox: Sandbox, program: Program, caches: SandboxPlace["caches"]): Command {
  const { folder, command, environment } = program;
  const [first] = command;
  // By a shell: what is missing inside ends with 127, as it does outside.
  const started: Command = first === "/bin/sh" ? command : ["/bin/sh", "-c", 'exec "$0" "$@"', ...command];
  return sandbox.wrap(started, { folder, temporary: environment["TMPDIR"] ?? folder, caches });
}
