/** Tests that standard output and standard error of a loop's script are kept apart, without secrets. */
import assert from "node:assert/strict";
import { it } from "node:test";
import { LIMITS, NEVER, temporaryFolder } from "../../test/contracts/programs.ts";
import type { JobId } from "../core/job.ts";
import { LocalPrograms } from "./programs/local.ts";
import { scriptsIn } from "./scripts.ts";

it("gives both outputs of a script and its exit code, without secrets", async () => {
  await using folder = await temporaryFolder();
  const programs = new LocalPrograms({ folder: `${folder.path}/programs` });
  const workspace = {
    ...{ job: "task:t#1" as JobId, folder: folder.path, commit: "c", notices: [] },
    environment: { PATH: process.env["PATH"] ?? "" },
  };
  const run = scriptsIn(workspace, {
    ...{ programs, limits: LIMITS, redact: (text) => text.replaceAll("s3cr3t", "[redacted]") },
    sandbox: async () => ({ is: "off", wrap: (command: readonly string[]) => command }) as never,
  });
  const script = "cat; echo 2 failing >&2; echo s3cr3t >&2; exit 3";
  assert.deepEqual(await run(script, "a draft", NEVER), {
    ...{ exit_code: 3, stdout: "a draft", stderr: "2 failing\n[redacted]\n" },
  });
});
