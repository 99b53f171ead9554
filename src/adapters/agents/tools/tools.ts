/** Defines a model's tools: a worker's change its workspace, a planner's only read. */
import { type Tool, type ToolSet, tool } from "ai";
import * as z from "zod";
import { runCommand } from "./bash.ts";
import { editText, listFolder, readText, writeText } from "./files.ts";
import { askGit } from "./git.ts";
import type { RootedPlace, ToolPlace } from "./place.ts";
import { padOf, rootOf } from "./reach.ts";
import { findFiles, grepFiles } from "./search.ts";
import { problem, whyNot } from "./text.ts";

/**
 * A worker's tools. With `names`, only those; unknown names are ignored. Read-only git is for roles that name it,
 * because they may have no shell. A worker with an output file can always write it.
 */
export function workerTools(place: ToolPlace, names?: readonly string[]): ToolSet {
  const rooted = rootedIn(place);
  const all: ToolSet = { ...readingTools(rooted), ...changingTools(rooted) };
  if (names === undefined) return all;
  const offered = Object.entries({ ...all, ...historyTools(rooted) });
  const named = Object.fromEntries(offered.filter(([name]) => names.includes(name)));
  if (place.scratchpad?.file === undefined || "write" in named) return named;
  return { ...named, write: changingTools({ ...rooted, readsOnly: true })["write"]! };
}

export function plannerTools(place: ToolPlace): ToolSet {
  const rooted = rootedIn(place);
  return { ...readingTools(rooted), ...historyTools(rooted) };
}

const rootedIn = (place: ToolPlace): RootedPlace => ({
  ...place,
  root: rootOf(place.folder),
  ...padOf(place.scratchpad),
});

function readingTools(place: RootedPlace): ToolSet {
  const paths = pathsOf(place);
  return {
    read: define(place, {
      description: `Read a text file. A long one comes in parts: go on with the offset that is named. ${paths}`,
      input: z.object({
        path: z.string(),
        offset: count.optional().describe("the first line to read, counted from 1"),
        limit: count.optional().describe("how many lines"),
      }),
      note: ({ path }) => `[read ${path}]`,
      run: (input) => readText(place, input),
    }),
    ls: define(place, {
      description: `List a folder: "/" marks folders, "@" links. ${paths}`,
      input: z.object({ path: z.string().optional() }),
      note: ({ path = "." }) => `[ls ${path}]`,
      run: (input) => listFolder(place, input),
    }),
    grep: define(place, {
      description:
        "Search the text of files for a regular expression; ignored files are left out. " +
        `The answer has path:line:text. ${PATHS}`,
      input: z.object({
        pattern: z.string().min(1),
        path: z.string().optional().describe("a folder or file to search in"),
        glob: z.string().optional().describe('only these files, as "*.ts" or "src/**/*.ts"'),
        ignore_case: z.boolean().optional(),
      }),
      note: ({ pattern }) => `[grep ${pattern}]`,
      run: (input, signal) => grepFiles(place, input, signal),
    }),
    find: define(place, {
      description: `Find files by name, as "*.ts" or "src/**/*.ts"; ignored files are left out. ${PATHS}`,
      input: z.object({ glob: z.string().min(1), path: z.string().optional() }),
      note: ({ glob }) => `[find ${glob}]`,
      run: (input, signal) => findFiles(place, input, signal),
    }),
  };
}

const historyTools = (place: RootedPlace): ToolSet => ({
  git: define(place, {
    description:
      'Ask git about the repository, with its arguments as a list: ["log", "--oneline", "-n", "20"]. ' +
      "Only what reads: log, show, diff, status, blame, ls-files, branch, tag.",
    input: z.object({ args: z.array(z.string()).min(1) }),
    note: ({ args }) => `[git ${args.join(" ")}]`,
    run: (input, signal) => askGit(place, input, signal),
  }),
});

function changingTools(place: RootedPlace): ToolSet {
  const paths = pathsOf(place);
  return {
    write: define(place, {
      description: `Write a whole file: replaces its content, makes missing folders. ${paths}`,
      input: z.object({ path: z.string(), content: z.string() }),
      note: ({ path }) => `[write ${path}]`,
      run: (input) => writeText(place, input),
    }),
    edit: define(place, {
      description:
        "Replace text in a file. old_text must be in it exactly once, with its spaces and line ends, " +
        `unless replace_all is set. ${paths}`,
      input: z.object({
        path: z.string(),
        old_text: z.string(),
        new_text: z.string(),
        replace_all: z.boolean().optional(),
      }),
      note: ({ path }) => `[edit ${path}]`,
      run: (input) => editText(place, input),
    }),
    bash: define(place, {
      description:
        "Run a shell command in the workspace. It gets no input, and everything that it started is ended with it. " +
        `At most ${Math.round(place.limits.maxCommandMs / 1_000)} s.`,
      input: z.object({ command: z.string().min(1), timeout_seconds: count.optional() }),
      run: (input, signal) => runCommand(place, input, signal),
    }),
  };
}

const PATHS = "Paths are relative to the workspace; nothing outside of it can be named.";

const pathsOf = ({ scratchpad }: RootedPlace): string =>
  scratchpad === undefined
    ? PATHS
    : `Paths are relative to the workspace; outside of it, only those in ${scratchpad.folder} can be named.`;

const count = z.number().int().min(1);

type Definition<Input extends z.ZodType> = {
  readonly description: string;
  readonly input: Input;
  /** What is recorded of its use; without it, `run` records by itself. */
  readonly note?: (input: z.infer<Input>) => string;
  readonly run: (input: z.infer<Input>, signal: AbortSignal) => Promise<string>;
};

/** Wraps a tool. An error is given to the model as text, so that it can go on; a thrown one would end its turn. */
function define<Input extends z.ZodType>(place: ToolPlace, definition: Definition<Input>): Tool {
  const { description, note, run } = definition;
  const inputSchema = definition.input as z.ZodType<z.infer<Input>>;
  const execute = async (input: z.infer<Input>, { abortSignal }: { abortSignal?: AbortSignal }) => {
    if (note) place.write?.(`${note(input)}\n`);
    place.onSign?.();
    const signal = abortSignal ? AbortSignal.any([place.signal, abortSignal]) : place.signal;
    try {
      return await run(input, signal);
    } catch (thrown) {
      return problem(`the tool ${whyNot(thrown)}`);
    }
  };
  return tool({ description, inputSchema, execute });
}
