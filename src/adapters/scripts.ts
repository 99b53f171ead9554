/** Runs the script of a loop by a shell in a workspace, in a sandbox where possible, with the draft as its input. */
import { failure } from "../core/failure.ts";
import type { JobId } from "../core/job.ts";
import { type Failed, hasFailed } from "../core/result.ts";
import type { ProgramLimits, Programs } from "../ports/programs.ts";
import type { ScriptRunner } from "../ports/subtasks.ts";
import type { Workspace } from "../ports/workspaces.ts";
import { cachesOf } from "./sandboxes/confined-programs.ts";
import type { Sandbox } from "./sandboxes/sandbox.ts";

type ScriptParts = {
  readonly programs: Programs;
  readonly limits: ProgramLimits;
  readonly redact: (text: string) => string;
  readonly sandbox: () => Promise<Sandbox | Failed>;
};

export function scriptsIn({ folder, environment }: Workspace, parts: ScriptParts): ScriptRunner {
  const { programs, limits, redact } = parts;
  let scripts = 0;
  return async (script, input, signal) => {
    const sandbox = await parts.sandbox();
    if (hasFailed(sandbox)) return sandbox;
    scripts += 1;
    const place = {
      folder,
      temporary: environment["TMPDIR"] ?? folder,
      caches: { folder: cachesOf(folder), may: "read" } as const,
    };
    const end = await programs.run(
      {
        job: `task:script#${scripts}` as JobId,
        command: sandbox.wrap(["/bin/sh", "-c", "--", script], place),
        folder,
        environment: { ...environment, CI: "true" },
        input,
        limits,
      },
      signal,
    );
    if (end.is === "exited")
      return { exit_code: end.code, stdout: redact(end.output), stderr: redact(end.errors) };
    if (end.is === "unstartable") return { failure: end.failure };
    const how = end.is === "killed" ? `was killed by ${end.signal}` : "did not end in time, or was stopped";
    return { failure: failure("interrupted", `the script ${how}`) };
  };
}
