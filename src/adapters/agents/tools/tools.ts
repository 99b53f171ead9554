/** Which tools does a model get? Those of a worker change its workspace; those of a planner only look. */
import { type ToolSet, tool } from "ai";
import { z } from "zod";
import { runCommand } from "./bash.ts";
import { editText, listFolder, readText, writeText } from "./files.ts";
import { askGit } from "./git.ts";
import { rootOf } from "./inside.ts";
import type { RootedPlace, ToolPlace } from "./place.ts";
import { padOf } from "./reach.ts";
import { findFiles, grepFiles } from "./search.ts";
import { problem, whyNot } from "./text.ts";

export type { ToolLimits, ToolPlace } from "./place.ts";

/**
 * Those with the given names alone, if names are given; unknown ones count for nothing. Git that only looks is for
 * those who name it: they may have no shell. Whoever has an output file can write it.
 */
export function workerTools(place: ToolPlace, names?: readonly string[]): ToolSet {
  const rooted = rootedIn(place);
  const all: ToolSet = { ...lookingTools(rooted), ...changingTools(rooted) };
  if (names === undefined) return all;
  const offered = Object.entries({ ...all, ...historyTools(rooted) });
  const named = Object.fromEntries(offered.filter(([name]) => names.includes(name)));
  if (place.scratchpad?.file === undefined || "write" in named) return named;
  return { ...named, write: changingTools({ ...rooted, readsOnly: true })["write"]! };
}

const rootedIn = (place: ToolPlace): RootedPlace => ({
  ...place,
  root: rootOf(place.folder),
  ...padOf(place.scratchpad),
});

export function plannerTools(place: ToolPlace): ToolSet {
  const rooted = rootedIn(place);
  return { ...lookingTools(rooted), ...historyTools(rooted) };
}

function lookingTools(place: RootedPlace): ToolSet {
  const paths = pathsOf(place);
  return {
    read: tool({
      description: `Read a text file. A long one comes in parts: go on with the offset that is named. ${paths}`,
      inputSchema: z.object({
        path: z.string(),
        offset: count.optional().describe("the first line to read, from 1 on"),
        limit: count.optional().describe("how many lines"),
      }),
      execute: (input) => answer(place, `read ${input.path}`, () => readText(place, input)),
    }),
    ls: tool({
      description: `List a folder: "/" marks folders, "@" links. ${paths}`,
      inputSchema: z.object({ path: z.string().optional() }),
      execute: (input) => answer(place, `ls ${input.path ?? "."}`, () => listFolder(place, input)),
    }),
    grep: tool({
      description:
        "Search the text of files for a regular expression; ignored files are left out. " +
        `The answer has path:line:text. ${PATHS}`,
      inputSchema: z.object({
        pattern: z.string().min(1),
        path: z.string().optional().describe("a folder or file to search in"),
        glob: z.string().optional().describe('only these files, as "*.ts" or "src/**/*.ts"'),
        ignore_case: z.boolean().optional(),
      }),
      execute: (input, { abortSignal }) =>
        answer(place, `grep ${input.pattern}`, () => grepFiles(place, input, signalOf(place, abortSignal))),
    }),
    find: tool({
      description: `Find files by name, as "*.ts" or "src/**/*.ts"; ignored files are left out. ${PATHS}`,
      inputSchema: z.object({ glob: z.string().min(1), path: z.string().optional() }),
      execute: (input, { abortSignal }) =>
        answer(place, `find ${input.glob}`, () => findFiles(place, input, signalOf(place, abortSignal))),
    }),
  };
}

function historyTools(place: RootedPlace): ToolSet {
  return {
    git: tool({
      description:
        'Ask git about the repository, with its arguments as a list: ["log", "--oneline", "-n", "20"]. ' +
        "Only what looks: log, show, diff, status, blame, ls-files, ls-tree, rev-parse, branch, tag, " +
        "shortlog, grep, cat-file, merge-base, rev-list, describe, for-each-ref.",
      inputSchema: z.object({ args: z.array(z.string()).min(1) }),
      execute: (input, { abortSignal }) =>
        answer(place, `git ${input.args.join(" ")}`, () =>
          askGit(place, input, signalOf(place, abortSignal)),
        ),
    }),
  };
}

function changingTools(place: RootedPlace): ToolSet {
  const paths = pathsOf(place);
  return {
    write: tool({
      description: `Write a whole file; what was in it is replaced, folders are made. ${paths}`,
      inputSchema: z.object({ path: z.string(), content: z.string() }),
      execute: (input) => answer(place, `write ${input.path}`, () => writeText(place, input)),
    }),
    edit: tool({
      description:
        "Replace text in a file. old_text must be in it exactly once, with its spaces and line ends, " +
        `unless replace_all is set. ${paths}`,
      inputSchema: z.object({
        path: z.string(),
        old_text: z.string(),
        new_text: z.string(),
        replace_all: z.boolean().optional(),
      }),
      execute: (input) => answer(place, `edit ${input.path}`, () => editText(place, input)),
    }),
    bash: tool({
      description:
        "Run a shell command in the workspace. Nothing can be typed into it, and everything that it started " +
        `is ended with it. At most ${Math.round(place.limits.maxCommandMs / 1_000)} s.`,
      inputSchema: z.object({ command: z.string().min(1), timeout_seconds: count.optional() }),
      execute: (input, { abortSignal }) =>
        answer(place, undefined, () => runCommand(place, input, signalOf(place, abortSignal))),
    }),
  };
}

const PATHS = "Paths are relative to the workspace; nothing outside of it can be named.";

const pathsOf = ({ scratchpad }: RootedPlace): string =>
  scratchpad === undefined
    ? PATHS
    : `Paths are relative to the workspace; outside of it, only those in ${scratchpad.folder} can be named.`;

const count = z.number().int().min(1);

const signalOf = ({ signal }: ToolPlace, other: AbortSignal | undefined): AbortSignal =>
  other ? AbortSignal.any([signal, other]) : signal;

/** A model can go on after an error that it reads; one that is thrown ends its turn. */
async function answer(
  place: ToolPlace,
  note: string | undefined,
  use: () => Promise<string>,
): Promise<string> {
  if (note !== undefined) place.write?.(`[${note}]\n`);
  place.onSign?.();
  try {
    return await use();
  } catch (thrown) {
    return problem(`the tool ${whyNot(thrown)}`);
  }
}
