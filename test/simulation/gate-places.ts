/** Simulates gate workspaces that keep files of earlier runs, and gates that fail by turns or at random on any tree. */
import type { GateLeftovers } from "../../src/core/gate.ts";
import { type Random, randomFrom, seedFor } from "../../src/simulation/random.ts";
import type { Tally } from "./faults.ts";

/** What one run of the gate meets besides its tree. */
type GateRunWeather = {
  readonly failures: readonly string[];
  /** The files that earlier runs left in its workspace. */
  readonly leftovers?: GateLeftovers;
};

export type GatePlaces = {
  /** The gate fails by turns or at random, so an innocent task may be refused. */
  readonly isFickle: boolean;
  /** Commands of a fickle gate whose failures have no names. */
  readonly nameless: readonly string[];
  readonly run: (tree: string, of: GateRunOf) => GateRunWeather;
};

type GateRunOf = { readonly kind: "land" | "check"; readonly isFresh: boolean };

/** Part of the name of every failure that is only due to a used workspace. */
export const OVER_LEFTOVERS = "over what was left by";

/** Uses random numbers of its own, so that all else happens as it did before there were such gates. */
export function gatePlacesIn(seed: number, gates: number, faults: Tally): GatePlaces {
  const random = randomFrom(seedFor(seed, "places that remember"));
  const remembers = random.chance(0.25);
  const versions = random.pick([2, 3, 5]);
  const fickle = random.chance(0.12) ? ficklenessIn(random) : undefined;
  const places = placesThatRemember(random, gates);
  return {
    isFickle: fickle !== undefined,
    nameless: fickle?.isNameless ? ["test"] : [],
    run: (tree, { kind, isFresh }) => {
      const odd = fickle?.run(tree, kind) ?? [];
      if (odd.length > 0) faults.add("fickle gate");
      if (!remembers) return { failures: odd };
      const own = `version ${seedFor(seed, `version of ${tree}`) % versions}`;
      const { over, leftovers } = places(own, isFresh);
      if (over === undefined) return { failures: odd, ...(leftovers && { leftovers }) };
      faults.add("gate over leftovers");
      return { failures: [...odd, `test: ${over}`], ...(leftovers && { leftovers }) };
    },
  };
}

/** What one run meets in its workspace: a failure over another version's files, and all files that were left there. */
type Remembered = { readonly over?: string; readonly leftovers?: GateLeftovers };

/**
 * `count` workspaces in which each run leaves its version. A run of another version fails over it, and the workspace is
 * thrown away.
 */
export function placesThatRemember(random: Random, count: number) {
  const places = Array.from({ length: count }, () => new Set<string>());
  return (own: string, isFresh: boolean): Remembered => {
    // A fresh workspace takes the place of one that was thrown away, if there is one.
    const spoilt = places.findIndex(({ size }) => size === 0);
    const place = places[isFresh && spoilt !== -1 ? spoilt : random.below(count)]!;
    if (isFresh) place.clear();
    const left = [...place];
    const other = left.find((version) => version !== own);
    place.add(own);
    if (other !== undefined) place.clear();
    return {
      ...(other !== undefined && { over: `${OVER_LEFTOVERS} ${other}` }),
      ...(left.length > 0 && { leftovers: { files: left } }),
    };
  };
}

type Fickle = {
  readonly isNameless: boolean;
  readonly run: (tree: string, kind: GateRunOf["kind"]) => readonly string[];
};

/** The worst manner is "by turns": candidates fail, the target fails and passes in turn, and no task is at fault. */
function ficklenessIn(random: Random): Fickle {
  const names = random.pick([1, 3]);
  const manner = random.pick([
    "every second",
    "every third",
    "but each fourth",
    "at random",
    "by turns",
  ] as const);
  const looks = new Map<string, number>();
  let runs = 0;
  const isRed = (tree: string, kind: GateRunOf["kind"]): boolean => {
    runs += 1;
    const look = (looks.get(tree) ?? 0) + 1;
    looks.set(tree, look);
    switch (manner) {
      case "every second":
        return runs % 2 === 0;
      case "every third":
        return runs % 3 === 0;
      case "but each fourth":
        return runs % 4 !== 0;
      case "at random":
        return random.chance(0.5);
      case "by turns":
        return kind === "land" || look % 2 === 0;
    }
  };
  return {
    isNameless: random.chance(0.5),
    run: (tree, kind) => (isRed(tree, kind) ? [`test: fickle ${random.below(names)}`] : []),
  };
}
