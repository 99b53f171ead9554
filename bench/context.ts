/** Measures whether the files that a commit changed are found from its subject, over this project's history. */
import { fileURLToPath } from "node:url";
import { matchFiles } from "../src/subtasks/associative-files.ts";
import { termsOf } from "../src/subtasks/relevance.ts";
import { type Case, type History, readHistory } from "./context-history.ts";
import type { Bench, BenchReport } from "./measure.ts";

export const contextBench: Bench = { name: "context", run };

const TOP = 10;
/** The number of past changes that are considered, as in a user's repository. */
const MAX_CHANGES = 500;

type Rank = (asked: Case, history: History) => readonly string[];

const WAYS: Readonly<Record<string, Rank>> = {
  skein: ({ subject, files, changes }) => matchFiles(subject, files, changes),
  "term frequency": byTermFrequency,
  "matching lines, as rg finds them": byMatchingLines,
};

async function run(): Promise<BenchReport> {
  const title = `context: recall at ${TOP} of the files that a commit changed, from its subject and the tree before it`;
  const history = readHistory(fileURLToPath(new URL("..", import.meta.url)), MAX_CHANGES);
  if (history === undefined)
    return {
      title: `${title}: not measured, there is no history here (a shallow clone, or none)`,
      tables: [],
      limits: [],
    };
  const { cases } = history;
  const middle = cases.length >> 1;
  const rows = Object.entries(WAYS).map(([way, rank]) => ({
    way,
    "older half (tuned on)": recall(cases.slice(0, middle), history, rank),
    "newer half": recall(cases.slice(middle), history, rank),
  }));
  const [ours, ...others] = rows;
  return {
    title,
    tables: [{ title: `${cases.length} commits, up to ${cases.at(-1)!.files.length} files`, rows }],
    limits: others.map((other) => ({
      claim: `${other.way} beside skein, newer half`,
      measured: other["newer half"] / ours!["newer half"],
      max: MAX_OF_OURS,
    })),
  };
}

/** A lead that is larger than chance. */
const MAX_OF_OURS = 0.95;

function recall(cases: readonly Case[], history: History, rank: Rank): number {
  let sum = 0;
  for (const asked of cases) {
    const found = rank(asked, history).slice(0, TOP);
    sum += found.filter((path) => asked.answer.has(path)).length / asked.answer.size;
  }
  return sum / cases.length;
}

/** Ranks by how often the same terms occur in name and content. */
function byTermFrequency({ subject, files }: Case): readonly string[] {
  const terms = new Set(termsOf(subject));
  return best(
    files.map(({ path, name, content }) => {
      let count = 0;
      for (const term of terms) count += (content.counts.get(term) ?? 0) + (name.counts.get(term) ?? 0);
      return [path, count];
    }),
  );
}

/** Ranks by matching lines, `rg -ic "word|word|…"`: what an agent with a shell would do. */
function byMatchingLines({ subject, files, blobs }: Case, { texts }: History): readonly string[] {
  const words = (subject.toLowerCase().match(/[\p{L}\p{N}]{4,}/gu) ?? []).join("|");
  if (words === "") return [];
  const pattern = new RegExp(`^.*?(?:${words})`, "gim");
  return best(files.map(({ path }, i) => [path, texts.get(blobs[i]!)?.match(pattern)?.length ?? 0]));
}

const best = (counted: readonly (readonly [string, number])[]) =>
  counted
    .filter(([, count]) => count > 0)
    .toSorted(([, a], [, b]) => b - a)
    .map(([path]) => path);
