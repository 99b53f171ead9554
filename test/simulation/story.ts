/** Makes the run of one seed, with its project, team, policy and faults, simulates it, and checks every rule. */
import assert from "node:assert/strict";
import type { Event } from "../../src/core/log/event.ts";
import { replay } from "../../src/core/log/evolve.ts";
import type { RunState } from "../../src/core/log/state.ts";
import { isOver } from "../../src/core/rules/finish.ts";
import { defaultPolicy, type Policy } from "../../src/core/rules/policy.ts";
import type { Problem } from "../../src/core/rules/repair.ts";
import { childId, ROOT } from "../../src/core/task.ts";
import type { Message } from "../../src/engine/inbox.ts";
import { type Random, randomFrom, seedFor } from "../../src/simulation/random.ts";
import { ClockInvariants, jumpsIn, someAsLength } from "./clock-jumps.ts";
import { Delegators } from "./delegators.ts";
import { digest } from "./digest.ts";
import { KNOWN_FLAKY, mischief, Tally, type Weather } from "./faults.ts";
import { fleetIn } from "./fleets.ts";
import { GateChangers } from "./gate-changers.ts";
import { gatePlacesIn } from "./gate-places.ts";
import { Invariants } from "./invariants.ts";
import { countNatural } from "./natural-faults.ts";
import {
  accountsIn,
  budgetIn,
  countGoverned,
  mendedKeys,
  providerOf,
  shortagesIn,
  thrifty,
} from "./providers.ts";
import { scriptedTeam, type Team } from "./scripted-team.ts";
import { type Setups, setupsIn } from "./setups.ts";
import { ShakyRepository } from "./shaky-repository.ts";
import { type Crashes, type Reaction, type Simulated, simulate } from "./simulate.ts";
import { Violation } from "./violation.ts";

export type Told = {
  readonly seed: number;
  readonly events: readonly Event[];
  readonly faults: Tally;
  readonly how: string;
  readonly violation?: string;
  readonly hours: number;
};

export async function tell(seed: number): Promise<Told> {
  const random = randomFrom(seed);
  const faults = new Tally();
  const events: Event[] = [];
  try {
    const { simulated, invariants } = await play(random, seed, faults, events);
    const how = finalChecks(simulated, invariants);
    return { seed, events, faults, how, hours: simulated.now / 3_600_000 };
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    const violation = error instanceof Violation ? error.message : (error.stack ?? error.message);
    return { seed, events, faults, how: "violation", violation, hours: 0 };
  }
}

async function play(random: Random, seed: number, faults: Tally, events: Event[]) {
  const later = randomFrom(seedFor(seed, "of part three")); // Own random numbers keep all else as it was.
  const governed = randomFrom(seedFor(seed, "of part four"));
  const planned = randomFrom(seedFor(seed, "of part five"));
  const before = policyOf(random, faults);
  const changers = new GateChangers(seed, faults);
  const setups = setupsIn(seed, faults);
  const delegators = new Delegators(seed, faults, before);
  const fleet = fleetIn(seed, faults);
  const policy = {
    ...before,
    ...delegators.policy,
    offerMs: fleet?.offerMs ?? 0,
    gateChanges: changers.allowed,
    ...setups.policy,
    approval: approvalOf(later),
    accounts: accountsIn(governed),
    budget: budgetIn(governed, before.budget),
    landing: { ...before.landing, gates: randomFrom(seedFor(seed, "gates")).pick([1, 2, 4, 8]) },
  };
  if (policy.landing.gates > 1) faults.add("several gates at once");
  const clocks = randomFrom(seedFor(seed, "clocks"));
  const jumps = jumpsIn(clocks, faults);
  const quotas = shortagesIn(governed);
  const shortages = jumps.length === 0 ? quotas : someAsLength(clocks, quotas);
  const blind = randomFrom(seedFor(seed, "nothing runs"));
  const isBlind = blind.chance(0.4);
  const old = random.chance(0.15) ? brokenBase(random) : [];
  const broken = isBlind && blind.chance(0.4) ? [...old, ...unbuiltBase(blind)] : old;
  if (broken.length > 0) faults.add("base red from the start");
  const staged = later.chance(0.2);
  if (staged) faults.add("gate in stages");
  const places = gatePlacesIn(seed, policy.landing.gates, faults);
  const nameless = staged || isBlind ? [] : [...setups.nameless, ...places.nameless];
  if (nameless.length > 0) faults.add("command that names nothing");
  const repository = new ShakyRepository(broken, { staged, nameless, isBlind });
  if (repository.keepsFromRunning(repository.failures).length > 0) faults.add("base on which no test runs");
  const team = {
    ...teamOf(random, seed),
    painted: governed.pick([0, 0.3]),
    loose: planned.pick([0, 0, 0.3, 1]),
  };
  const invariants = new Invariants(policy, repository, team, places.isFickle);
  const weather = { ...weatherOf(random), knownFlaky: later.chance(0.1) };
  const said = [...saidBy(random, faults), ...mendedKeys(shortages), ...(fleet?.said ?? [])];
  const happens = [
    ...outsiders(random, repository, faults),
    ...takers(seed, repository, faults),
    ...pruners(seed, repository),
    ...setups.happens,
  ];
  const crashes = random.chance(0.5) ? crashesOf(random, faults, clocks, [setups, delegators]) : undefined;
  const clock = new ClockInvariants(policy, jumps, () => crashes?.count() ?? 0);
  const reacts = reactions(later, faults);
  const takesBack = lateTaker(seed, repository, faults);
  let violation: unknown;
  const simulated = await simulate({
    goal: "make the project",
    policy,
    repository,
    script: delegators.script(changers.script(scriptedTeam(team))),
    mischief: thrifty(governed, mischief(random, weather, policy, faults)),
    provider: providerOf(governed, policy, shortages),
    places,
    unready: setups.unready,
    ...(fleet && { fleet }),
    said,
    react: (event) => [
      ...reacts(event),
      ...changers.react(event),
      ...delegators.react(event),
      ...takesBack(event, invariants.state),
      ...setups.react(event),
    ],
    ...(weather.knownFlaky ? { flaky: [staged ? `gate: ${KNOWN_FLAKY}` : KNOWN_FLAKY] } : {}),
    happens,
    maxEvents: 100_000, // Twice as many as the largest run has.
    jumps,
    ...(crashes && { crashes }),
    observe: (event, now) => {
      if (violation) return;
      events.push(event);
      countNatural(event, faults, invariants);
      countGoverned(event, faults);
      try {
        clock.before(event, invariants.state, now);
        changers.observe(event);
        delegators.before(event, invariants.state);
        invariants.observe(event);
      } catch (error) {
        violation = error; // Thrown here, it would end the engine.
      }
    },
  });
  if (violation) throw violation;
  return { simulated, invariants };
}

function finalChecks({ end, events }: Simulated, { state }: Invariants): string {
  if (end.is === "stuck") throw new Violation(`the run does not end: ${end.why}`);
  assert.deepEqual(digest(replay(events)), digest(end.state), "replay does not equal the live state");
  assert.deepEqual(digest(state), digest(end.state), "an observer's state does not equal the live state");
  return end.state.closed!.how;
}

/** Mostly small teams, because thousands are simulated; now and then a large one. */
function teamOf(random: Random, seed: number): Team {
  const large = random.chance(0.03);
  return {
    seed,
    width: large ? random.between(50, 200) : random.spread(1, 16),
    sprints: large ? 2 : random.between(0, 3),
    large: random.pick([0, 0.2, 0.6]),
    linked: random.pick([0, 0.3, 0.9]),
    reports: random.pick([0, 0.1]),
    shared: random.pick([0, 0, 0.3]),
    breaks: random.pick([0, 0.05, 0.2]),
    clashes: random.pick([0, 0, 0.1]),
  };
}

const weatherOf = (random: Random): Omit<Weather, "knownFlaky"> => ({
  workers: random.pick([0, 0.05, 0.3]),
  planners: random.pick([0, 0.05, 0.3, 0.3, ...(random.chance(0.1) ? [1] : [])]),
  plans: random.pick([0, 0.05, 0.3]),
  landing: random.pick([0, 0, 0.05, 0.2]),
  flaky: random.pick([0, 0, 0.05, 0.3]),
  zombies: random.pick([0, 0.5]),
});

function policyOf(random: Random, faults: Tally): Policy {
  const work = random.pick([1, 2, 8, 8, 64, 1000]);
  const tight = random.chance(0.08);
  if (tight) faults.add("tight budget");
  return {
    ...defaultPolicy,
    capacity: { plan: random.pick([1, 4, 50]), work },
    // Now and then so short that healthy workers are late.
    leaseMs: random.chance(0.2) ? { ...defaultPolicy.leaseMs, work: 10 * 60_000 } : defaultPolicy.leaseMs,
    overlap: random.pick(["serialise", "serialise", "serialise", "allow"]),
    order: random.pick(["priority", "priority", "longest-path"]),
    landing: {
      ...defaultPolicy.landing,
      strategy: random.pick(["merge-commit", "merge-commit", "rebase"]),
      maxBatch: random.pick([1, 5, 50]),
    },
    budget: tight
      ? {
          ...defaultPolicy.budget,
          maxTokens: random.between(1, 60) * 1_000,
          reserveTokens: 1_500,
          reserveMicrodollars: 1,
        }
      : defaultPolicy.budget,
  };
}

const brokenBase = (random: Random): readonly Problem[] =>
  Array.from({ length: random.spread(1, 12) }, (_, i) => {
    const [kind, of] = random.pick([
      ["conflict-markers", "markers"],
      ["build", "build"],
      ["types", "types"],
      ["tests", "test"],
    ] as const);
    const files = Array.from({ length: random.between(1, 3) }, () => `old/f${random.below(9)}.ts`);
    const name = `${of}: old failure ${i}`;
    const cause = random.chance(0.3) ? { cause: `cause ${random.below(3)}` } : {};
    return { class: kind, name, files: [...new Set(files)], message: "broken before us", ...cause };
  });

/** A base that does not build, so that no test runs and new failures of tests stay hidden. */
const unbuiltBase = (random: Random): readonly Problem[] =>
  Array.from({ length: random.between(1, 3) }, (_, i) => ({
    ...{ class: "build", name: `build: unbuilt ${i}`, files: [`old/b${i}.ts`], message: "does not build" },
  }));

/** Messages of people in the first hours of a run. */
function saidBy(
  random: Random,
  faults: Tally,
): readonly { readonly at: number; readonly message: Message }[] {
  const said: { at: number; message: Message }[] = [];
  const soon = () => random.spread(1_000, 6 * 3_600_000);
  if (random.chance(0.15)) {
    const at = soon();
    faults.add("paused");
    said.push({ at, message: { type: "pause" } });
    // A message to an engine that dies before it is durable is lost, so people repeat it until it must have arrived.
    for (let hour = 0; hour < 20; hour += 1) {
      said.push({ at: at + soon() + hour * 3_600_000, message: { type: "resume" } });
    }
  }
  if (random.chance(0.15)) {
    faults.add("steered");
    said.push({ at: soon(), message: { type: "steer", message: "prefer small files" } });
  }
  if (random.chance(0.15)) {
    faults.add("task cancelled");
    const child = childId(ROOT, random.between(1, 5));
    const task = random.chance(0.5) ? child : childId(child, random.between(1, 3));
    said.push({ at: soon(), message: { type: "cancel", task } });
  }
  if (random.chance(0.04)) {
    faults.add("run cancelled");
    said.push({ at: soon(), message: { type: "cancel" } });
  }
  if (random.chance(0.15)) {
    faults.add("base moved");
    said.push({ at: soon(), message: { type: "base-moved", commit: "b1" } });
  }
  return said;
}

const approvalOf = (random: Random): Policy["approval"] =>
  random.chance(0.2) ? random.pick(["first", "every"]) : "never";

/** A person decides about plans, and now and then cancels a task while it lands. */
function reactions(random: Random, faults: Tally) {
  const decides = random.chance(0.3) ? 0.4 : 0; // The chance that a plan is declined.
  const cancels = random.chance(0.1) ? 0.3 : 0;
  let declined = 0;
  return (event: Event): readonly Reaction[] => {
    if (event.type === "job.started" && event.job.kind === "land" && random.chance(cancels)) {
      faults.add("cancelled while landing");
      const { task } = random.pick(event.job.members);
      return [{ afterMs: random.spread(1, 60_000), message: { type: "cancel", task } }];
    }
    if (event.type !== "plan.proposed") return [];
    const isDeclined = declined < MAX_DECLINED && random.chance(decides);
    if (isDeclined) declined += 1;
    faults.add(isDeclined ? "plan declined" : "plan approved");
    const afterMs = random.spread(1_000, 8 * 3_600_000);
    const said: Message = isDeclined ? { type: "decline", reason: "smaller" } : { type: "approve" };
    // A message to an engine that dies before it is durable is lost, so people repeat it until it must have arrived.
    const again = Array.from({ length: 20 }, (_, hour) => ({
      afterMs: afterMs + (hour + 1) * 3_600_000,
      message: { type: "approve" } as const,
    }));
    return [{ afterMs, message: said }, ...again];
  };
}

/** People stop declining after this many plans. */
const MAX_DECLINED = 3;

function outsiders(random: Random, repository: ShakyRepository, faults: Tally) {
  const happenings: { at: number; happens: () => void }[] = [];
  const soon = () => random.spread(1_000, 3 * 3_600_000);
  if (random.chance(0.05)) {
    faults.add("target moved from outside");
    happenings.push({ at: soon(), happens: () => repository.moveFromOutside() });
  }
  if (random.chance(0.1)) {
    faults.add("target broke by itself");
    const problem = {
      class: "tests",
      name: "test: the date",
      files: ["old/date.ts"],
      message: "too late",
    } as const;
    happenings.push({ at: soon(), happens: () => repository.decay(problem) });
  }
  return happenings;
}

/** Uses random numbers of its own, so that all else happens as it did before there were such people. */
function takers(seed: number, repository: ShakyRepository, faults: Tally) {
  const random = randomFrom(seedFor(seed, "target put back"));
  if (!random.chance(0.1)) return [];
  faults.add("target put back");
  return Array.from({ length: random.between(1, 3) }, () => ({
    at: random.spread(1_000, 6 * 3_600_000),
    happens: () => repository.putBack(),
  }));
}

/** A person moves the target back right after its last check, when the run must not be closed yet. */
function lateTaker(seed: number, repository: ShakyRepository, faults: Tally) {
  const random = randomFrom(seedFor(seed, "target put back at the end"));
  let left = random.chance(0.15) ? random.between(1, 2) : 0;
  return (event: Event, state: RunState): readonly Reaction[] => {
    if (left === 0 || event.type !== "target.checked" || !isOver(state)) return [];
    left -= 1;
    faults.add("target put back at the end");
    return [{ afterMs: random.spread(1, 60_000), happens: () => repository.putBack() }];
  };
}

/** A person removes the refs and commits of attempts, often during a landing. */
function pruners(seed: number, repository: ShakyRepository) {
  const random = randomFrom(seedFor(seed, "pruned"));
  if (!random.chance(0.1)) return [];
  return Array.from({ length: random.between(1, 3) }, () => ({
    at: random.spread(1_000, 6 * 3_600_000),
    happens: () => repository.prune(),
  }));
}

/** Each crash costs a replay of all events so far, and more crashes in one run show nothing new. */
const MAX_CRASHES = 40;

/** A machine that loses power loses its workers, too; a killed process may leave them running. */
function crashesOf(
  random: Random,
  faults: Tally,
  clocks: Random,
  [setups, delegators]: readonly [Setups, Delegators],
): Crashes & { readonly count: () => number } {
  const chance = random.pick([0.005, 0.03, 0.2]);
  let surviving = 0;
  let left = MAX_CRASHES;
  // Now and then right when the engine would write down a clock jump.
  const isSet = (events: readonly Event[]) =>
    events.some(({ type }) => type === "clock.jumped") && clocks.chance(0.3);
  return {
    count: () => MAX_CRASHES - left,
    onAppend: (events) => {
      const isAtProbe = left > 0 && setups.kills(events);
      if (isAtProbe) faults.add("engine killed at a probe");
      const isAtSubtask = left > 0 && delegators.kills(events);
      if (left === 0 || !(random.chance(chance) || isSet(events) || isAtProbe || isAtSubtask)) return "none";
      left -= 1;
      surviving = random.pick([0, 0.5, 1]);
      const how = random.pick(["before", "after", "rival"] as const);
      faults.add(
        how === "before"
          ? "engine killed before an append"
          : how === "after"
            ? "engine killed after an append"
            : "second engine",
      );
      return how;
    },
    survives: () => random.chance(surviving),
  };
}
