/** Opens a repository, and builds what the use cases need of it. */
import path from "node:path";
import { Wakes } from "../adapters/files/wakes.ts";
import { FileFlakyTests } from "../adapters/flaky-tests.ts";
import { withPulledFiles } from "../adapters/fleet/pulled-files.ts";
import { askGit } from "../adapters/git/ask-git.ts";
import { salvageIn } from "../adapters/repositories/salvage.ts";
import { runFiles } from "../adapters/run-files.ts";
import { openTraces } from "../adapters/traces/traces-of.ts";
import type { Parts } from "../app/parts.ts";
import { secretsOfRecord } from "../config/secrets-of-record.ts";
import type { Environment, Project } from "../ports/project.ts";
import type { RunHome } from "../ports/runs.ts";

export { mailboxOf } from "../adapters/fleet/fleet-runs.ts";
export { pullFiles } from "../adapters/fleet/pulled-files.ts";
export { ownFile } from "../adapters/own-files.ts";
export { openProject } from "../adapters/runs/open-project.ts";
export { askGit };

export const tracesOf = (env: Environment) => openTraces(env, secretsOfRecord);

export const flakyTestsOf = ({ stateFolder }: Pick<Project, "stateFolder">) =>
  new FileFlakyTests({ folder: stateFolder });

export const lockChanges = ({ folder }: RunHome) => new Wakes(path.join(folder, "owner.json"));

export const salvageOf = ({ located: { top } }: Project) => salvageIn(top);

export const filesOf = ({ located: { top } }: Pick<Project, "located">) => withPulledFiles(runFiles(top));

export const gitIn =
  ({ located: { top } }: Pick<Project, "located">): Parts["git"] =>
  (...args) =>
    askGit(top, args);
