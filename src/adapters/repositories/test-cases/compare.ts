/** Compares the test cases before and after a change: which are gone, which check nothing any more, which are off. */
import { stem } from "../../../core/rules/removal.ts";
import { languageOf } from "../code-lines.ts";
import { isNamedAsTest } from "../test-files.ts";
import { casesIn, fileAsCase, type TestCase } from "./cases.ts";
import { helpsTests, loadedByTests } from "./helpers.ts";

/**
 * A test file that a change touches. A side is undefined if the file is missing there, or has a name by which no
 * runner finds it.
 */
export type TestFile = {
  readonly before?: { readonly path: string; readonly text: string } | undefined;
  readonly after?: { readonly path: string; readonly text: string } | undefined;
};

export type TestChanges = {
  readonly deleted: readonly DeletedTests[];
  /** Tests that never run any more, or check nothing. */
  readonly disabled: readonly string[];
  /** Sentences about changes that are no loss, but that a person may want to know. */
  readonly flagged: readonly string[];
  readonly lost: readonly TestCase[];
  /**
   * Set if so many tests were replaced by others that not all were compared, so that the result about the rest is
   * not reliable.
   */
  readonly isTooMuch?: true;
};

/** One test, or several of one file; `words`: the names that their code uses. */
type DeletedTests = { readonly name: string; readonly words: readonly string[] };

/** `elsewhere`: cases of files that the change does not touch. */
export function compareTests(files: readonly TestFile[], elsewhere: readonly TestCase[] = []): TestChanges {
  const loaded = loadedByTests(files.flatMap((file) => (file.before ? [file.before] : [])));
  const sides = files.map(({ before, after }) => sidesOf(before, after, loaded));
  const before = sides.flatMap((side) => side.before);
  const after = sides.flatMap((side) => side.after);
  const movedTo = new Map(
    files.flatMap((file) =>
      file.before && file.after ? [[file.before.path, file.after.path] as const] : [],
    ),
  );
  const matched = matchCases({ before, after, movedTo });
  const { pairs, heirs, isTooMuch } = matched;
  const gone = matched.lost.filter((was) => !elsewhere.some((now) => isTwin(was, now)));
  const { never = [], lost = [] } = Object.groupBy(gone, (was) => (isOff(was) ? "never" : "lost"));
  const checkers = checkersIn(files);
  const emptied = pairs
    .filter((pair) => isEmptied(pair, checkers))
    .map(({ now }) => `${placeOf(now)} checks nothing any more`);
  return {
    deleted: deletedOf(lost, before),
    disabled: [...emptied, ...skipped(after, pairs, isOff)],
    flagged: [
      ...skipped(after, pairs, isConditional).map((text) => `skips tests under a condition: ${text}`),
      ...heirs.map(({ was, now }) => `${nameOf(was)} lives on in ${placeOf(now)}, by its words`),
      ...never.map((was) => `deleted ${nameOf(was)}, which never ran`),
    ],
    lost,
    ...(isTooMuch && { isTooMuch }),
  };
}

const isOff = ({ skip }: TestCase): boolean => skip !== undefined && skip.condition === undefined;
const isConditional = ({ skip }: TestCase): boolean => skip?.condition !== undefined;

/** The cases of both sides. A file without a recognised case counts as one case, if it is removed or new as a whole. */
function sidesOf(before: TestFile["before"], after: TestFile["after"], loaded: ReadonlySet<string>) {
  const old = before ? casesIn(before.path, before.text) : [];
  const now = after ? casesIn(after.path, after.text) : [];
  const isRust = [before, after].some((file) => file && languageOf(file.path) === "rust");
  if (old.length > 0 || now.length > 0 || (isRust && !(before && isNamedOrIn(before.path))))
    return { before: old, after: now };
  if (before && helpsTests(before.path, before.text, loaded)) return { before: [], after: [] };
  return {
    before: before ? [fileAsCase(before.path, before.text)] : [],
    after: after ? [fileAsCase(after.path, after.text)] : [],
  };
}

const isNamedOrIn = (path: string): boolean => isNamedAsTest(path) || /(?:^|\/)tests?\//.test(path);

type Pair = { readonly was: TestCase; readonly now: TestCase };

type Sides = {
  readonly before: readonly TestCase[];
  readonly after: readonly TestCase[];
  /** The new path of each renamed file. */
  readonly movedTo: ReadonlyMap<string, string>;
};

/**
 * `pairs`: the same test before and after; `heirs`: a lost test and the test that took over its content; the rest
 * is lost.
 */
function matchCases({ before, after, movedTo }: Sides) {
  const pairs: Pair[] = [];
  const free = new Set(after);
  const byName = Map.groupBy(after, titleOf);
  const isTaken = (was: TestCase, isSame: (now: TestCase) => boolean): boolean => {
    const options = (byName.get(titleOf(was)) ?? []).filter((now) => free.has(now) && isSame(now));
    const now = options.find(({ body }) => body === was.body) ?? mostLike(was, options.slice(0, MAX_OPTIONS));
    if (now === undefined) return false;
    free.delete(now);
    pairs.push({ was, now });
    return true;
  };
  const isAtHome = (was: TestCase) => (now: TestCase) =>
    now.path === (movedTo.get(was.path) ?? was.path) && isFoundLike(was, now);
  const byBody = Map.groupBy(after, ({ body }) => body);
  let left = before.filter((was) => !isTaken(was, (now) => isAtHome(was)(now) && now.body === was.body));
  left = left.filter((was) => !isTaken(was, isAtHome(was)));
  left = left.filter((was) => !isTaken(was, (now) => isFoundLike(was, now) && likeness(was, now) >= MOVED));
  const alike = (was: TestCase) => [...(byName.get(titleOf(was)) ?? []), ...(byBody.get(was.body) ?? [])];
  left = left.filter((was) => !alike(was).some((now) => isTwin(was, now)));
  return { pairs, ...heirsOf(left, { before, after, movedTo, free, pairs }) };
}

/** How many tests of one name are compared. */
const MAX_OPTIONS = 100;
/** Takes about a second; a change that renames a thousand tests needs as many comparisons. */
const MAX_COMPARED = 2_000_000;

type Matched = Sides & {
  readonly free: ReadonlySet<TestCase>;
  readonly pairs: readonly Pair[];
};

/** Finds, for each lost test, a test that is new or has grown by its words. */
function heirsOf(left: readonly TestCase[], { before, after, movedTo, free, pairs }: Matched) {
  const rarity = rarities(before);
  const grown = [
    ...[...free].map((now) => ({ now, words: now.words })),
    ...pairs.map(({ was, now }) => ({ now, words: now.words.difference(was.words) })),
  ].filter(({ words }) => words.size > 0);
  if (left.length * grown.length > MAX_COMPARED) return { heirs: [], lost: left, isTooMuch: true as const };
  const isInPlace = placesOf({ before, after, pairs });
  const isHome = (was: TestCase, now: TestCase) => now.path === (movedTo.get(was.path) ?? was.path);
  const heirs: Pair[] = [];
  const lost: TestCase[] = [];
  const taken = new Set<TestCase>();
  for (const was of left) {
    const options = grown.flatMap(({ now, words }) => {
      if (!isFoundLike(was, now) || (isOff(now) && !isOff(was)) || checksLess(was, now)) return [];
      const share = shareOf(was, words, rarity);
      if (share < AKIN) return [];
      const isNear = !taken.has(now) && isHome(was, now) && (isAkin(was, now) || isInPlace(was, now));
      return share >= (isNear ? AKIN : TAKEN_UP) ? [{ now, rank: share + (isNear ? 1 : 0) }] : [];
    });
    const heir = options.toSorted((a, b) => b.rank - a.rank)[0];
    if (heir) {
      heirs.push({ was, now: heir.now });
      taken.add(heir.now);
    } else lost.push(was);
  }
  return { heirs, lost, isTooMuch: undefined };
}

/** Tells whether a test stands where another stood: after the same test, and before the same test. */
function placesOf({ before, after, pairs }: Pick<Matched, "before" | "after" | "pairs">) {
  const now = new Map(pairs.map((pair) => [pair.was, pair.now]));
  const [oldAt, newAt] = [indexed(before), indexed(after)];
  return (was: TestCase, heir: TestCase): boolean => {
    const isBeside = (step: 1 | -1) => {
      const [old, fresh] = [before[oldAt.get(was)! + step], after[newAt.get(heir)! + step]];
      const [a, b] = [
        old?.path === was.path ? old : undefined,
        fresh?.path === heir.path ? fresh : undefined,
      ];
      return a === undefined ? b === undefined : now.get(a) === b;
    };
    return isBeside(1) && isBeside(-1);
  };
}

const indexed = (cases: readonly TestCase[]) => new Map(cases.map((one, i) => [one, i]));

/** Whether a lost test was a duplicate of this one. */
const isTwin = (was: TestCase, now: TestCase): boolean =>
  isFoundLike(was, now) &&
  (!isOff(now) || isOff(was)) &&
  ((now.body === was.body && was.checks > 0) ||
    (titleOf(now) === titleOf(was) && was.name !== "" && likeness(was, now) >= TWIN && now.checks > 0));

/** The share of a test's words that must be in the other test: one of the same name that moved, and a duplicate. */
const MOVED = 0.3;
const TWIN = 0.8;
/**
 * The share by weight: for a new test with a similar name or in the same place that has replaced no other, and for
 * any test.
 */
const AKIN = 0.35;
const TAKEN_UP = 0.6;

/** Whether a runner that found the test by the name of its file still does. */
const isFoundLike = (was: TestCase, now: TestCase): boolean =>
  !isNamedAsTest(was.path) || isNamedAsTest(now.path) || languageOf(now.path) === "rust";

/** A title with its placeholders made equal: "adds %s", "adds ${x}", "adds $x". */
const titleOf = ({ name }: TestCase): string => name.replace(FILLED_IN, "…");
const FILLED_IN = /\$\{(?:[^{}]|\{[^{}]*\})*\}|%[sdifjopO]|\$[A-Za-z_][\w.]*/g;

/** Whether the names are similar. A part of a name may have become that of the group, or the other way round. */
const isAkin = (was: TestCase, now: TestCase): boolean =>
  sharesHalf(titleOf(was), titleOf(now)) ||
  (was.groups !== now.groups && sharesHalf(`${was.groups} ${titleOf(was)}`, `${now.groups} ${titleOf(now)}`));

function sharesHalf(one: string, other: string): boolean {
  const [a, b] = [partsOf(one), partsOf(other)];
  return a.size > 0 && a.intersection(b).size / a.size >= 0.5;
}

/** The words of "test_parse_legacy" or "parses the legacy form", in small letters and without endings. */
const partsOf = (text: string): ReadonlySet<string> =>
  new Set(
    (text.match(/[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+/g) ?? [])
      .map((part) => part.toLowerCase())
      .filter(
        (part) =>
          part.length > 2 && !["test", "tests", "should", "the", "and", "with", "when"].includes(part),
      )
      .map(stem),
  );

const likeness = (was: TestCase, now: TestCase): number =>
  was.words.size === 0 ? 1 : was.words.intersection(now.words).size / was.words.size;

function mostLike(was: TestCase, options: readonly TestCase[]): TestCase | undefined {
  const found = options.map((now) => ({ now, rank: likeness(was, now) }));
  return found.toSorted((a, b) => b.rank - a.rank)[0]?.now;
}

/** The weight of each word: a word in only one test counts for more than a word in all tests. */
function rarities(cases: readonly TestCase[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { words } of cases) for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1);
  return new Map([...counts].map(([word, count]) => [word, 1 / count]));
}

function shareOf(was: TestCase, words: ReadonlySet<string>, rarity: ReadonlyMap<string, number>): number {
  let [all, kept] = [0, 0];
  for (const word of was.words) {
    const weight = rarity.get(word) ?? 1;
    all += weight;
    if (words.has(word)) kept += weight;
  }
  return all === 0 ? 0 : kept / all;
}

/** Whether the test checks nothing any more, though it did before. */
const checksLess = (was: TestCase, now: TestCase): boolean => was.checks > 0 && now.checks === 0;

function isEmptied({ was, now }: Pair, checkers: ReadonlySet<string>): boolean {
  if (!checksLess(was, now) || was.body === now.body) return false;
  return ![...now.calls].some((called) => checkers.has(called));
}

/** Functions in these files that check something, because a test may check by calling one of them. */
function checkersIn(files: readonly TestFile[]): ReadonlySet<string> {
  const names = files.flatMap(({ after }) => (after ? definedIn(after.text) : []));
  return new Set(names);
}

const definedIn = (text: string): readonly string[] =>
  [...text.matchAll(/\b(?:function|def|func|fn|const|let|var|fun|void)\s+(?:\([^)]*\)\s*)?(\w+)/g)].flatMap(
    ([, name], i, all) => {
      const [from, to] = [all[i]!.index, all[i + 1]?.index ?? text.length];
      return /assert|expect|\bt\.|check|should|throw|raise|Error/i.test(text.slice(from, to)) ? [name!] : [];
    },
  );

const placeOf = ({ path, line, name }: TestCase): string =>
  name === "" ? path : `${path}:${line} "${name.slice(0, MAX_NAME_CHARS)}"`;

const nameOf = ({ path, name }: TestCase): string => `${path} "${name.slice(0, MAX_NAME_CHARS)}"`;

const MAX_NAME_CHARS = 100;
const MAX_NAMES = 10;

/** The names of lost tests. A file that was lost as a whole is named once. */
function deletedOf(lost: readonly TestCase[], before: readonly TestCase[]): readonly DeletedTests[] {
  const counts = new Map<string, number>();
  for (const { path } of before) counts.set(path, (counts.get(path) ?? 0) + 1);
  return [...Map.groupBy(lost, ({ path }) => path)].flatMap(([path, cases]) => {
    const all = counts.get(path)!;
    if (cases.length < all && cases.length <= MAX_SINGLE)
      return cases.map((one) => ({ name: nameOf(one), words: [...one.words].slice(0, MAX_WORDS) }));
    const words = [...new Set(cases.flatMap((one) => [...one.words]))].slice(0, MAX_WORDS);
    if (all === 1 && cases[0]!.name === "") return [{ name: path, words }];
    const names = cases.slice(0, MAX_NAMES).map(({ name }) => `"${name.slice(0, MAX_NAME_CHARS)}"`);
    const more = cases.length > MAX_NAMES ? ` and ${cases.length - MAX_NAMES} more` : "";
    const how =
      cases.length < all ? `${cases.length} of its ${all}` : all === 1 ? "its only" : `all of its ${all}`;
    return [{ name: `${path} (${how} case${all === 1 ? "" : "s"}: ${names.join(", ")}${more})`, words }];
  });
}

const MAX_WORDS = 200;
/** More lost tests of one file are named in one line. */
const MAX_SINGLE = 3;

/**
 * The places that switch tests off, each once with the number of its tests; not those that were off in the same
 * way before.
 */
function skipped(
  after: readonly TestCase[],
  pairs: readonly Pair[],
  isSo: (one: TestCase) => boolean,
): readonly string[] {
  const before = new Map(pairs.map(({ was, now }) => [now, was]));
  const fresh = after.filter((now) => {
    const was = before.get(now);
    return (
      isSo(now) && !(was?.skip && (was.skip.condition === undefined || now.skip!.condition !== undefined))
    );
  });
  const places = Map.groupBy(fresh, ({ path, skip }) => `${path}:${skip!.line}`);
  return [...places].map(([place, cases]) => {
    const { what, condition } = cases[0]!.skip!;
    const of = cases.length === 1 ? cases[0]!.name.slice(0, MAX_NAME_CHARS) : `${cases.length} tests`;
    const named = of === "" ? "" : cases.length === 1 ? ` of "${of}"` : ` of ${of}`;
    return `${place} ${what}${named}${condition === undefined ? "" : `, under the condition ${condition}`}`;
  });
}
