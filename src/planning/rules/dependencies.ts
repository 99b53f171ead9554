/** What waits for what? Words of order, what one task makes and another needs, and files that two of them write. */
import { overlaps } from "../../core/scope.ts";
import type { Clause } from "../reading.ts";
import type { Draft } from "./draft.ts";
import { followsAll } from "./work.ts";

/** For each key the keys that it waits for: none that follows from others, none unknown, no circle. */
export function dependenciesOf(
  drafts: readonly Draft[],
  clauses: readonly Clause[],
): ReadonlyMap<string, readonly string[]> {
  const edges = new Edges(drafts);
  for (const draft of drafts) for (const key of draft.after) edges.add(draft.key, key);
  addWordsOfOrder(edges, drafts, clauses);
  addNeeds(edges, drafts, clauses);
  addSharedFiles(edges, drafts);
  return edges.reduced();
}

/** "Once a is done, b": b waits for all of a, but not for the tests that only the plan gave it. */
function addWordsOfOrder(edges: Edges, drafts: readonly Draft[], clauses: readonly Clause[]): void {
  const parts = Map.groupBy(drafts.filter(isOfClause), ({ clause }) => clause!);
  for (const [index, clause] of clauses.entries())
    for (const before of clause.after)
      for (const later of parts.get(index) ?? [])
        for (const earlier of parts.get(before) ?? []) edges.add(later.key, earlier.key);
}

const isOfClause = ({ clause, kind }: Draft) => clause !== undefined && kind !== "tests";

const RESULTS =
  /\b(?:results?|findings?|reports?|analysis|summary|summaries|review|recommendations?|outcomes?)\b|^(?:an? )?fix(?:es)?$|^one$/i;
const BACK =
  /\b(?:it|them|this|that|these|those|its|their|the same|accordingly|the (?:new|changed|resulting|result|change|changes|fix|fixes|remaining)|what(?:ever)? (?:breaks?|broke|fails|failed|was found|is left|changed|you find)|callers|call sites|(?:the|all) (?:imports|usages|references)|they|they're)\b|^one$/i;

function addNeeds(edges: Edges, drafts: readonly Draft[], clauses: readonly Clause[]): void {
  for (const later of drafts) {
    const clause = later.clause === undefined ? undefined : clauses[later.clause];
    if (clause === undefined || later.kind === "tests") continue;
    const earlier = drafts.filter((one) => isOfClause(one) && one.clause! < later.clause!);
    for (const one of earlier) if (isNeeded(one, later, clause)) edges.add(later.key, one.key);
  }
}

function isNeeded(one: Draft, later: Draft, { object, text }: Clause): boolean {
  const said = object.slice(0, MAX_SAID_CHARS) || text.slice(0, MAX_SAID_CHARS);
  if (BACK.test(said) && later.work !== "operate" && later.work !== "verify")
    return one.clause === later.clause! - 1;
  if (/^both\b/i.test(said)) return true;
  if (one.work === "report") return RESULTS.test(said);
  if (one.delivers === "report") return later.work === "operate";
  if (isBeside(one) && isBeside(later)) return false;
  return followsAll(later.work) && !isAboutItself(later, one);
}

const isBeside = ({ work }: Draft) => work === "tests" || work === "docs";

const MAX_SAID_CHARS = 300;

/** Tests or docs of files of its own have nothing to wait for. */
const isAboutItself = (later: Draft, one: Draft) =>
  (later.work === "tests" || later.work === "docs") &&
  later.reads.length > 0 &&
  one.scope.length > 0 &&
  !overlaps(later.reads, one.scope);

/** The later of two waits: the plan's order is the order of the request. */
function addSharedFiles(edges: Edges, drafts: readonly Draft[]): void {
  const writing: Draft[] = [];
  for (const later of drafts) {
    for (const earlier of writing) {
      if (earlier.group !== undefined && earlier.group === later.group) continue;
      if (overlaps(earlier.scope, later.scope) || overlaps(earlier.scope, later.reads))
        edges.add(later.key, earlier.key);
    }
    if (later.scope.length > 0) writing.push(later);
  }
}

/** Who waits for whom, by number. */
class Edges {
  readonly #numbers: ReadonlyMap<string, number>;
  readonly #keys: readonly string[];
  readonly #before: Set<number>[];
  /** An edge leads forward in the order of the plan: only then can a circle close. */
  #leadsForward = false;

  constructor(drafts: readonly Draft[]) {
    this.#keys = drafts.map(({ key }) => key);
    this.#numbers = new Map(this.#keys.map((key, at) => [key, at]));
    this.#before = drafts.map(() => new Set());
  }

  /** What would close a circle is left out: the first word on it stands. */
  add(later: string, earlier: string): void {
    const [to, from] = [this.#numbers.get(later), this.#numbers.get(earlier)];
    if (to === undefined || from === undefined || to === from) return;
    this.#leadsForward ||= from > to;
    if (this.#leadsForward && this.#reached(from).has(to)) return;
    this.#before[to]!.add(from);
  }

  /** All that is before it, and itself. */
  #reached(start: number): ReadonlySet<number> {
    const seen = new Set([start]);
    for (const node of seen) for (const next of this.#before[node]!) seen.add(next);
    return seen;
  }

  /** Without those that follow from others. */
  reduced(): ReadonlyMap<string, readonly string[]> {
    const above = this.#keys.map((_, at) => this.#reached(at));
    const isImplied = (one: number, direct: ReadonlySet<number>) => {
      for (const other of direct) if (other !== one && above[other]!.has(one)) return true;
      return false;
    };
    const reduced = this.#before.map((direct) =>
      [...direct].filter((one) => !isImplied(one, direct)).sort((a, b) => a - b),
    );
    return new Map(this.#keys.map((key, at) => [key, reduced[at]!.map((number) => this.#keys[number]!)]));
  }
}
