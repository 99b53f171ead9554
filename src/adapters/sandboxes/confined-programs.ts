/** Runs the gate and set-up commands in the sandbox, if there is one. */
import { dirname, join } from "node:path";
import { type Failed, hasFailed } from "../../core/result.ts";
import type { Program, ProgramEnd, Programs } from "../../ports/programs.ts";
import { whyUnstartable } from "../programs/command.ts";
import { hasFetched } from "./caches.ts";
import type { Sandbox, SandboxCommand, SandboxPlace } from "./sandbox.ts";

type ConfinedProgramsOptions = {
  readonly programs: Programs;
  readonly sandbox: () => Promise<Sandbox | Failed>;
  /** Set for set-up commands: if one fails with the user's read-only downloads, it is retried with its own. */
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
    const why = await whyUnstartable(program); // Otherwise only the start of the sandbox would be checked.
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

/** Outside of the work tree, in the folder of the workspace, and removed with it. */
export const cachesOf = (tree: string): string => join(dirname(tree), "caches");

function wrapped(sandbox: Sandbox, program: Program, caches: SandboxPlace["caches"]): SandboxCommand {
  const { folder, command, environment } = program;
  const [first] = command;
  // Started by a shell, so that a missing program ends with 127, as it does outside.
  const started: SandboxCommand =
    first === "/bin/sh" ? command : ["/bin/sh", "-c", 'exec "$0" "$@"', ...command];
  return sandbox.wrap(started, { folder, temporary: environment["TMPDIR"] ?? folder, caches });
}
