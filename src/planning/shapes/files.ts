/** Does the request ask for the same work on many files or folders that exist? Then they are shared out. */
import { subjectOf } from "../wording.ts";
import { filesMeant, type Meant } from "./files-meant.ts";
import { isReport, kindOf, type Lexicon, orderIn } from "./lexicon.ts";
import type { Part, RequestShape, ShapeAround } from "./shape.ts";
import { linesOf, sentencesOf } from "./text.ts";

export const sharedOut: RequestShape = (request, around) => {
  const { lexicon } = around;
  if (linesOf(request).some(({ is }) => is !== "text" && is !== "blank")) return undefined;
  const [sentence = "", ...rest] = sentencesOf(request);
  if (!rest.every((one) => kindOf(one, lexicon) === "limit")) return undefined;
  const order = orderIn(sentence, lexicon);
  if (order === undefined || !isForEach(sentence, order.verb, lexicon)) return undefined;
  const meant = filesMeant(order.object.replace(/[.!?\s]+$/, ""), around);
  if (meant === undefined || meant.items.length < 2) return undefined;
  const groups = inGroups(meant.items, countOf(meant, around));
  const parts = groups.map((files) => partOf(files, { sentence, verb: order.verb, meant }, around));
  return {
    parts: meant.isWhole ? [...parts, collecting(sentence, parts)] : parts,
    shared: rest,
    assumptions: meant.assumptions,
  };
};

/** The work only reads, or changes each file by itself. A rename everywhere does not: it must see all files at once. */
const isForEach = (sentence: string, verb: string, lexicon: Lexicon): boolean =>
  isReport(sentence, lexicon) || lexicon.words.files.inPlace.includes(verb.toLowerCase());

/** One task an agent, and of files no more than five a task, nor more lines than one conversation holds. */
function countOf({ items, kind }: Meant, { maxConcurrent, limits, facts }: ShapeAround): number {
  const agents = Math.min(Math.max(1, maxConcurrent), items.length);
  if (kind === "folders") return agents;
  const bytes = items.reduce((sum, file) => sum + (facts.bytes.get(file) ?? 0), 0);
  return Math.min(
    items.length,
    Math.max(
      agents,
      Math.ceil(items.length / limits.maxFilesRead),
      Math.ceil(bytes / limits.bytesALine / limits.maxLinesRead),
    ),
  );
}

/** Neighbours together, of nearly equal size: the first ones have one more. */
function inGroups<T>(items: readonly T[], count: number): readonly (readonly T[])[] {
  const groups = Math.max(1, Math.min(count, items.length));
  const [size, more] = [Math.floor(items.length / groups), items.length % groups];
  return Array.from({ length: groups }, (_, i) => {
    const start = i * size + Math.min(i, more);
    return items.slice(start, start + size + (i < more ? 1 : 0));
  });
}

type Work = { readonly sentence: string; readonly verb: string; readonly meant: Meant };

function partOf(items: readonly string[], { sentence, verb, meant }: Work, { limits }: ShapeAround): Part {
  const names = items.map((item) => (meant.kind === "files" ? item.slice(item.lastIndexOf("/") + 1) : item));
  return {
    subject: subjectOf(`${verb} ${names.join(", ")}`, limits.maxSubjectChars),
    words: sentence,
    says: [
      `Do this for these ${meant.kind} only; other tasks have the others:`,
      ...items.map((item) => `- ${item}`),
    ].join("\n"),
    after: [],
    ...(meant.kind === "files" && { files: items }),
  };
}

/** One more task puts the results of all parts together. */
const collecting = (sentence: string, parts: readonly Part[]): Part => ({
  subject: "Put the results of all parts together",
  words: sentence,
  says: "The tasks before this one have each done a part of it. Read their results, and make one result of them.",
  after: parts.map((_, at) => at),
  isReport: true,
});
