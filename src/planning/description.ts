/** Writes what a worker is told of the request: its own part word for word, and the whole request as context. */
import { visible } from "./plain.ts";
import type { ExecutionPlan, PlanTask } from "./plan.ts";
import type { Part } from "./shapes/shape.ts";
import { joined } from "./shapes/text.ts";
import { saysToWrite } from "./wording.ts";

/**
 * Characters of the request in one task: about six pages or 5,000 tokens. The last third comes from the request's end,
 * where the order often stands.
 */
export const MAX_REQUEST_CHARS = 20_000;

/** The heading above the whole request in a task that does a part of it. */
const WHOLE = "The whole request, for what surrounds this part (the other parts are other tasks'):";

export function describePart({ words, says }: Part, shared: readonly string[], request: string): string {
  return [
    ...(says === undefined ? [] : [says]),
    words,
    ...(shared.length === 0 ? [] : [["Said of all parts:", ...shared].join("\n")]),
    ...(joined(words) === joined(request) ? [] : [`${WHOLE}\n\n${asTold(request).text}`]),
  ].join("\n\n");
}

/** The heading above the whole request in the only task, which has to do all of it. */
const IN_FULL = "The request, in full:";

/** The heading in a plan of several tasks that left something out, so that nothing claims that another task has it. */
const SURROUNDING = "The whole request, for what surrounds this part:";

/** The most characters that a plan file allows for one description. */
const MAX_DESCRIPTION_CHARS = 50_000;

/** Adds the request's own words to every task of an agent's plan, because the agent may have left something out. */
export function withRequest(plan: ExecutionPlan, request: string): ExecutionPlan {
  const { text, left } = asTold(visible(request).trim());
  const head = plan.tasks.length === 1 ? IN_FULL : plan.not_covered ? SURROUNDING : WHOLE;
  const told = (task: PlanTask): PlanTask => {
    const description = `${task.description}\n\n${head}\n\n${text}`;
    // A read-only agent must not be told to write, not even in the words of the request.
    const isForReader = task.delivers === "report" && task.metadata.output_file === undefined;
    if (description.length > MAX_DESCRIPTION_CHARS || (isForReader && saysToWrite(text))) return task;
    return { ...task, description };
  };
  return { ...plan, assumptions: [...plan.assumptions, ...left], tasks: plan.tasks.map(told) };
}

type Told = {
  /** The request up to the limit, with line breaks; a note says how much was cut. */
  readonly text: string;
  /** The text that was cut, in lines short enough for assumptions. */
  readonly left: readonly string[];
};

export function asTold(request: string): Told {
  if (request.length <= MAX_REQUEST_CHARS) return { text: request, left: [] };
  const from = cutBefore(request, MAX_REQUEST_CHARS - END_CHARS);
  const to = cutAfter(request, request.length - END_CHARS);
  const [begin, end] = [request.slice(0, from), request.slice(to)].map((text) => text.toWellFormed().trim());
  const more = (to - from).toLocaleString("en");
  return {
    text: `${begin}\n\n[Cut here: ${more} characters of the request are in the plan's assumptions, as "Not read". Its end:]\n\n${end}`,
    left: chunksOf(request.slice(from, to)).map((chunk) => `Not read: ${chunk}`),
  };
}

const END_CHARS = 7_000;

/** Cuts at a line end, else at a blank, near the place; else at the place itself, but not inside a character. */
function cutBefore(text: string, place: number): number {
  const line = text.lastIndexOf("\n", place);
  const blank = text.lastIndexOf(" ", place);
  return line > place - MAX_CUT_CHARS ? line : blank > place - MAX_CUT_CHARS ? blank : wholeAt(text, place);
}

function cutAfter(text: string, place: number): number {
  const [line, blank] = [text.indexOf("\n", place), text.indexOf(" ", place)];
  const isNear = (at: number) => at !== -1 && at < place + MAX_CUT_CHARS;
  return isNear(line) ? line : isNear(blank) ? blank : wholeAt(text, place);
}

const MAX_CUT_CHARS = 3_000;

const wholeAt = (text: string, place: number): number =>
  /[\uDC00-\uDFFF]/.test(text[place] ?? "") ? place - 1 : place;

/** A line of a plan file holds 10,000 characters. */
const MAX_CHUNK_CHARS = 8_000;

/** Chunks of whole lines as far as they fit, with a blank for each line break; a longer line is split. */
function chunksOf(text: string): readonly string[] {
  const chunks: string[] = [];
  let chunk = "";
  for (const line of text.split("\n").flatMap(piecesOf)) {
    if (chunk !== "" && chunk.length + line.length >= MAX_CHUNK_CHARS) {
      chunks.push(chunk);
      chunk = "";
    }
    chunk = chunk === "" ? line : `${chunk} ${line}`;
  }
  return chunk === "" ? chunks : [...chunks, chunk];
}

function piecesOf(line: string): readonly string[] {
  const pieces: string[] = [];
  for (let rest = line.trim(); rest !== ""; ) {
    const blank = rest.lastIndexOf(" ", MAX_CHUNK_CHARS);
    const end = rest.length <= MAX_CHUNK_CHARS ? rest.length : blank > 0 ? blank : MAX_CHUNK_CHARS;
    pieces.push(rest.slice(0, end).toWellFormed());
    rest = rest.slice(end).trim();
  }
  return pieces;
}
