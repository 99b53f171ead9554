/** The run that the chaos trials start again and again and kill: small, real, and with an end that no race changes. */
import { mkdir } from "node:fs/promises";
import path from "node:path";
import type { Config } from "../../src/config/index.ts";
import type { Script, ScriptStep, WorkAttempt } from "../../src/ports/agent-script.ts";
import { configOf } from "../support/live-runs.ts";
import { openRepository } from "../support/repositories.ts";

/** The gate: it fails while a file says "bad", in the words of a compiler, or while the list is not sorted. */
const CHECK = `test -f list.txt && sort -c list.txt || exit 1
code=0
for file in $(grep -l bad *.txt); do
  echo "$file:1:1: error: it says bad"
  code=1
done
exit $code
`;

/** The project's first commit is red: a sweep finds the failure, and asks for a fix. */
const FILES = { "check.sh": CHECK, "list.txt": "m\n", "notes.txt": "good\n", "broken.txt": "bad\n" };

/** Makes the same commit every time, so that two runs can be compared. */
export async function makeProject(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  const { git, write } = openRepository(folder);
  await git("init", "-q", "-b", "main");
  await git("config", "user.name", "Test Person");
  await git("config", "user.email", "person@example.invalid");
  await write(FILES);
  await git("add", "-A");
  await git("commit", "-q", "-m", "first", "--date=2026-01-01T00:00:00Z");
  await write({ "untracked.txt": "the user's own\n", "notes.txt": "being edited\n" });
}

/** The number of gates at once: `npm run chaos -- --gates 2`. */
const gates = (): string => process.env["CHAOS_GATES"] ?? "1";

export const configFor = (scriptFile: string): Config =>
  configOf({
    gates: Number(gates()),
    agent: { kind: "scripted", script: scriptFile },
    gate: ["sh check.sh"],
    onRedBase: "repair", // The base does not build, and without a person a run would stop there.
    workers: 6,
    overlap: "allow",
    "retry.maxFailed": 2,
    "retry.first": "20ms",
    "retry.max": "50ms",
  });

const complete = (summary: string): WorkAttempt["end"] => ({ handoff: { status: "complete", summary } });
const writes = (file: string, text: string, ...more: readonly ScriptStep[]): WorkAttempt => ({
  steps: [{ do: "write", path: file, text }, ...more],
  end: complete(`wrote ${file}`),
});

/** Workers that add to the sorted list at the same time conflict; repeated, they give the same list in any order. */
const lists = (word: string): WorkAttempt => ({
  steps: [
    { do: "append", path: "list.txt", text: `${word}\n` },
    { do: "run", command: ["sort", "-o", "list.txt", "list.txt"] },
    { do: "wait", ms: 60 },
  ],
  end: complete(`added ${word}`),
});

/**
 * Only a fix lands on a red target, so these four tasks, also the bad one, are all in the first candidate after the
 * fix.
 */
const mends: WorkAttempt = {
  steps: [
    ...["n", "o", "red", "dies"].map(
      (key): ScriptStep => ({ do: "await", task: key, until: "ready", ms: 60_000 }),
    ),
    { do: "write", path: "broken.txt", text: "good\n" },
  ],
  end: complete("mended broken.txt"),
};

/** Two levels of subtasks, with a question between them; each adds its line to one file, in this order. */
const adds = (word: string): WorkAttempt => ({
  steps: [{ do: "append", path: "last.txt", text: `${word}\n` }],
  end: complete(`added ${word}`),
});
const delegates: WorkAttempt = {
  ...adds("begun"),
  end: { spawn: { type: "part", description: "make a part" } },
  answers: "in English",
  goesOn: [adds("good")],
};
const asksAndDelegates: WorkAttempt = {
  ...adds("part"),
  end: { ask: { question: "in which language?", default: "none" } },
  goesOn: [
    { ...adds("answered"), end: { spawn: { type: "detail", description: "make a detail" } } },
    adds("whole"),
  ],
};

const task = (id: string, scope: readonly string[], after: readonly string[] = []) => ({
  id,
  description: `do ${id}`,
  acceptance: `${id} is done`,
  scope,
  after,
});

export const script: Script = {
  plans: {
    t: [
      {
        answer: {
          scratchpad: "first sprint",
          tasks: [
            task("n", ["list.txt"]),
            task("o", ["list.txt"]),
            task("red", ["red.txt"]),
            task("dies", ["dies.txt"]),
            task("doomed", ["doomed.txt"]),
            task("below", ["below.txt"], ["doomed"]),
          ],
        },
      },
      { end: "outage" },
      {
        answer: {
          scratchpad: "second sprint",
          tasks: [task("split", ["w.txt", "x.txt", "y.txt", "z.txt"]), task("last", ["last.txt"])],
        },
      },
    ],
    split: [
      {
        answer: {
          scratchpad: "",
          tasks: [task("w", ["w.txt", "x.txt"]), task("y", ["y.txt", "z.txt"], ["w"])],
        },
      },
    ],
  },
  work: {
    n: [lists("n")],
    o: [lists("o")],
    red: [writes("red.txt", "bad\n"), writes("red.txt", "good\n")],
    dies: [
      { steps: [{ do: "write", path: "dies.txt", text: "half\n" }], end: "crash" },
      writes("dies.txt", "whole\n", { do: "commit", message: "whole" }),
    ],
    doomed: [{ end: { handoff: { status: "failed", summary: "it cannot be done" } } }],
    w: [writes("w.txt", "good\n", { do: "write", path: "x.txt", text: "good\n" })],
    y: [writes("y.txt", "good\n", { do: "write", path: "z.txt", text: "good\n" })],
    last: [delegates],
    "part-1": [asksAndDelegates],
    "detail-1": [adds("detail")],
    "fix-build-1": [mends],
  },
};

export type Place = {
  readonly folder: string;
  readonly repository: string;
  readonly env: Record<string, string>;
};

export const placeIn = (folder: string): Place => ({
  folder,
  repository: path.join(folder, "project"),
  env: {
    PATH: process.env["PATH"] ?? "",
    HOME: folder,
    SKEIN_STATE_DIR: path.join(folder, "state"),
    CHAOS_GATES: gates(),
  },
});

export const scriptFileOf = ({ folder }: Place) => path.join(folder, "script.json");
