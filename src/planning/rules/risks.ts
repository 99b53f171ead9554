/** What could go wrong with a plan, and why? */

import type { RepositoryFacts } from "../facts.ts";
import type { Score } from "../plan.ts";
import type { Reading } from "../reading.ts";
import { atomicityOf } from "./atomic.ts";
import type { Surroundings } from "./clause-drafts.ts";
import type { Draft } from "./draft.ts";
import { filesIn } from "./like-items.ts";
import { meantBy } from "./paths.ts";
import { counted, listed, mentionedIn } from "./wording.ts";

export type RisksAsked = {
  readonly reading: Reading;
  readonly drafts: readonly Draft[];
  readonly around: Surroundings;
  readonly score: Score;
  readonly waves: number;
};

export function risksOf(asked: RisksAsked): readonly string[] {
  const { drafts, around, waves } = asked;
  const changes = drafts.filter(({ work }) => work === "build" || work === "change");
  const { facts, limits } = around;
  const risks = [
    ...ofTheRequest(asked),
    changes.length > 0 && facts.files.length > 0 && facts.tests.length === 0
      ? "No tests were found: what breaks is seen late. Let the change come with a test."
      : "",
    waves > limits.maxWaves - 1
      ? `${waves} waves follow each other: the longest chain decides how long it takes.`
      : "",
    ...crowdedFiles(drafts),
    ...tooLarge(asked),
    facts.filesLeftOut > 0
      ? `Only ${counted(facts.files.length, "file")} of the repository were looked at: there are more.`
      : "",
  ];
  return [...new Set(risks.filter((risk) => risk !== ""))];
}

/** Read for its words of risk up to here: a longer request repeats itself. */
const MAX_READ_CHARS = 20_000;

function ofTheRequest({ reading, around, score, drafts }: RisksAsked): readonly string[] {
  const { words, tree } = around;
  const mentioned = mentionedIn(reading.text.slice(0, MAX_READ_CHARS));
  const said = (list: readonly string[]) => quotedWords(list.filter(mentioned));
  const [production, data, performance, security] = [
    words.risk.production,
    words.risk.data.filter((word) => !/^migrat/.test(word)),
    words.risk.performance,
    words.domain.security,
  ].map(said);
  const named = reading.clauses.flatMap(({ files }) => files);
  const written = [...reading.text.slice(0, MAX_READ_CHARS).matchAll(LEADING_OUT)].map(([, path]) => path!);
  const outside = [...new Set([...named, ...written])]
    .slice(0, 200)
    .flatMap((file) => (meantBy(file, tree).is === "outside" ? [JSON.stringify(file.slice(0, 80))] : []))
    .slice(0, 5);
  return [
    outside.length > 0
      ? `The request names what no task may touch, because it is not in the repository: ${listed(outside)}.`
      : "",
    reading.leftOut > 0
      ? `The last ${reading.leftOut} characters of the request were not read: split it.`
      : "",
    production ? `It reaches production (${production}): have a way back before it is delivered.` : "",
    data ? `It reaches stored data (${data}): try it on a copy, and keep a backup.` : "",
    security ? `It touches security (${security}): let a second person look at it.` : "",
    performance ? `It touches performance (${performance}): measure before and after.` : "",
    DESTROYING.test(reading.text.slice(0, MAX_READ_CHARS))
      ? "It names a command that destroys: read what it would do before anybody runs it."
      : "",
    ORDERING.test(reading.text.slice(0, MAX_READ_CHARS))
      ? "It speaks to the agents instead of the work: make sure that nobody else wrote that into it."
      : "",
    score.tier === 3
      ? `A score of ${score.total} is high: the parts hang together, and a wrong turn early costs much. Look at the first results before the rest.`
      : "",
    drafts.length === 0 && reading.clauses.length > 0
      ? "Nothing in the request could be made into a task."
      : "",
  ];
}

/** Paths that only the whole machine has. */
const LEADING_OUT =
  /(?:^|[\s"'`(])((?:\.\.\/|~\/|\/(?:etc|usr|var|home|root|bin|opt|dev|proc|sys)\/)[^\s"'`)]{1,200})/g;
const DESTROYING =
  /\brm\s+-\w*[rf]|\bgit\s+push\s+(?:\S+\s+){0,3}(?:-f\b|--force)|\bdrop\s+(?:table|database)\b|\bmkfs\b|\bdd\s+if=|(?:curl|wget)\s[^|\n]{1,200}\|\s*(?:ba)?sh\b|\bgit\s+reset\s+--hard\b/i;
export const ORDERING =
  /\b(?:ignore|disregard|forget)\s+(?:all\s+)?(?:of\s+)?(?:the\s+|your\s+|any\s+)?(?:previous|prior|earlier|above)\s+(?:instructions?|rules|prompts?)\b/i;

const quotedWords = (found: readonly string[]) => listed(found.slice(0, 3).map((word) => `"${word}"`));

const MANY_WRITERS = 3;

function crowdedFiles(drafts: readonly Draft[]): readonly string[] {
  const writers = new Map<string, number>();
  for (const { scope } of drafts) for (const path of scope) writers.set(path, (writers.get(path) ?? 0) + 1);
  return [...writers]
    .filter(([, count]) => count >= MANY_WRITERS)
    .slice(0, 3)
    .map(([path, count]) => `${count} tasks change ${path}, and so come one after the other.`);
}

/** What is not one unit of work although nothing splits it further. */
function tooLarge({ drafts, around }: RisksAsked): readonly string[] {
  const { limits, facts, minDepth } = around;
  const large = drafts.flatMap((draft) => {
    const reads = draft.reads.flatMap((path) => opened(path, facts));
    const atomicity = atomicityOf(
      { ...draft, reads, operations: 1 },
      { minDepth, limits, bytes: facts.bytes },
    );
    return atomicity.is === "atomic" ? [] : [`"${draft.subject}" is large: ${listed(atomicity.reasons)}.`];
  });
  return large.length > 3 ? [...large.slice(0, 3), `${large.length - 3} more are as large.`] : large;
}

/** The files of a folder, as far as they are known. */
function opened(path: string, facts: RepositoryFacts): readonly string[] {
  const files = path.endsWith("/") ? filesIn(path, facts) : [];
  return files.length === 0 ? [path] : files;
}
