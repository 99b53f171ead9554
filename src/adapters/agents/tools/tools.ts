/** Which tools does a model get? Those of a worker change its workspace; those of a planner only look. */
import { type ToolSet, tool } from "ai";
import { z } from "zod";
import { runCommand } from "./bash.ts";
import { editText, type FilePlace, listFolder, readText, writeText } from "./files.ts";
import { rootOf } from "./inside.ts";
import type { ToolPlace } from "./place.ts";
import { problem, whyNot } from "./text.ts";

export type { ToolLimits, ToolPlace } from "./place.ts";

/** Those with the given names alone, if names are given; unknown ones count for nothing. */
export function workerTools(place: ToolPlace, names?: readonly string[]): ToolSet {
  const all: ToolSet = { ...lookingTools(place), ...changingTools(place) };
  if (names === undefined) return all;
  return Object.fromEntries(Object.entries(all).filter(([name]) => names.includes(name)));
}

export const plannerTools = (place: ToolPlace): ToolSet => ({ ...lookingTools(place) });

function lookingTools(place: ToolPlace): ToolSet {
  const files = filesOf(place);
  return {
    read: tool({
      description: `Read a text file. A long one comes in parts: go on with the offset that is named. ${PATHS}`,
      inputSchema: z.object({
        path: z.string(),
        offset: count.optional().describe("the first line to read, from 1 on"),
        limit: count.optional().describe("how many lines"),
      }),
      execute: (input) => answer(place, `read ${input.path}`, () => readText(files, input)),
    }),
    ls: tool({
      description: `List a folder: "/" marks folders, "@" links. ${PATHS}`,
      inputSchema: z.object({ path: z.string().optional() }),
      execute: (input) => answer(place, `ls ${input.path ?? "."}`, () => listFolder(files, input)),
    }),
  };
}

function changingTools(place: ToolPlace): ToolSet {
  const files = filesOf(place);
  return {
    write: tool({
      description: `Write a whole file; what was in it is replaced, folders are made. ${PATHS}`,
      inputSchema: z.object({ path: z.string(), content: z.string() }),
      execute: (input) => answer(place, `write ${input.path}`, () => writeText(files, input)),
    }),
    edit: tool({
      description:
        "Replace text in a file. old_text must be in it exactly once, with its spaces and line ends, " +
        `unless replace_all is set. ${PATHS}`,
      inputSchema: z.object({
        path: z.string(),
        old_text: z.string(),
        new_text: z.string(),
        replace_all: z.boolean().optional(),
      }),
      execute: (input) => answer(place, `edit ${input.path}`, () => editText(files, input)),
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

const count = z.number().int().min(1);

const filesOf = (place: ToolPlace): FilePlace => ({ root: rootOf(place.folder), limits: place.limits });

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
