/** Tests that only listed files of `src` open files: two guarded readers, and others with a reason. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { isTest, sourceFiles } from "../tools/source-files.ts";

/** These follow no link at the end of a path, do not wait for a pipe, and stop at a size limit. */
const GUARDED = ["src/adapters/files/read-bounded.ts", "src/adapters/agents/tools/open-inside.ts"];

const OWN = "only Skein writes it, in the state folder";
const GIT = "a file in the git folder of the user's repository";
const THEMSELVES = "part of the scripted agent, which is a worker itself";

/** Files that open files without the guarded readers, and why they may. */
const LISTED: Readonly<Record<string, string>> = {
  "src/adapters/agents/model/conversation.ts": OWN,
  "src/adapters/agents/model/ledger.ts": OWN,
  "src/adapters/agents/scripted-await.ts": THEMSELVES,
  "src/adapters/agents/scripted-program.ts": THEMSELVES,
  "src/adapters/agents/scripted-steps.ts": THEMSELVES,
  "src/adapters/devices.ts": OWN,
  "src/adapters/files/write-whole.ts": "makes new files, and syncs folders",
  "src/adapters/fleet/pulled-files.ts": "writes into the run's own folder, through no link",
  "src/adapters/fleet/worker-files.ts": "through no link, and no more than the database takes",
  "src/adapters/fleet/worker-folder.ts": "a file of this worker's own, in its own folder",
  "src/adapters/git/objects.ts": "objects that it has just written, to sync them",
  "src/adapters/git/shelf.ts": GIT,
  "src/adapters/job-queues/job-files.ts": OWN,
  "src/adapters/objects/bundles.ts": "a bundle that git has just written into a folder of its own",
  "src/adapters/outboxes.ts": "makes a new file, and fails if there is one",
  "src/adapters/planning-data.ts": "a file of this package",
  "src/adapters/programs/command.ts": "the first 256 bytes of a program that is about to be run",
  "src/adapters/programs/connections.ts": "files of the kernel's, in /proc",
  "src/adapters/programs/inside-job.ts": "files of the kernel's, in /proc",
  "src/adapters/programs/pipes.ts": "pipes that it has just made",
  "src/adapters/programs/process-table.ts": "a file of the kernel's, in /proc",
  "src/adapters/repositories/checkouts.ts": GIT,
  "src/adapters/run-files.ts": OWN,
  "src/adapters/runs/folder-runs.ts": OWN,
  "src/adapters/runs/moved.ts": OWN,
  "src/adapters/runs/run-lock.ts": OWN,
  "src/adapters/transcripts.ts": OWN,
  "src/adapters/workspaces/leftovers.ts": OWN,
  "src/adapters/workspaces/provisions.ts": "copies ignored files of the user's checkout, looked at before",
  "src/adapters/workspaces/share-blocks.ts":
    "copies a file of Skein's own, to see whether the disk shares blocks",
  "src/adapters/workspaces/slot.ts": `${GIT}; and Skein's own index of a workspace, looked at before`,
  "src/surfaces/cli/acts/follow-apart.ts": OWN,
  "src/surfaces/cli/configuration.ts": "a file that the user named",
  "src/surfaces/cli/files.ts":
    "a file that the user named: links count, pipes are not waited for; or a new one",
  "src/surfaces/cli/input.ts": "the terminal",
  "src/surfaces/cli/commands/serve.ts": "a certificate that the user named",
  "src/surfaces/cli/render/result.ts": OWN,
  "src/surfaces/demo/project.ts": "files of this package",
  "src/surfaces/http/page.ts": "a file of this package",
  "src/surfaces/tui/watch-run.ts": "the terminal",
};

const IMPORT = /^import\s+(.+?)\s+from\s+"(?:node:)?fs(?:\/promises)?";/gms;
const OPENS =
  /\b(?:readFile|readFileSync|createReadStream|open|openSync|openAsBlob|copyFile|copyFileSync|cp|cpSync)\b/;

/** Judges by the imports; an import of all of `fs` counts, because it can open anything. */
const opensFiles = (text: string) =>
  [...text.matchAll(IMPORT)].some(([, names = ""]) => OPENS.test(names) || !names.startsWith("{")) ||
  /import\("(?:node:)?fs/.test(text);

test("only those open files that are guarded, or have a reason", () => {
  const opening = sourceFiles()
    .filter(({ path, text }) => path.startsWith("src/") && !isTest(path) && opensFiles(withoutTypes(text)))
    .map(({ path }) => path);
  assert.deepEqual(opening, [...GUARDED, ...Object.keys(LISTED)].sort());
});

const withoutTypes = (text: string) => text.replaceAll(/^import type .*$/gm, "");
