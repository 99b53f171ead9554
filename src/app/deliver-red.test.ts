/** Tests which failing targets are delivered, and that only the command line can ask for it. */
import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { describe, it } from "node:test";
import { CoreRun, task } from "../../test/support/core-run.ts";
import { defaultConfig } from "../config/read.ts";
import { toSettings } from "../config/settings.ts";
import type { CommandReport } from "../core/gate.ts";
import { hasFailed } from "../core/result.ts";
import { Fold } from "../engine/fold.ts";
import type { Brought, DeliveryWanted } from "../ports/delivery.ts";
import type { RunHome } from "../ports/runs.ts";
import { deliverRun } from "./deliver.ts";
import { deliverRed } from "./deliver-red.ts";
import type { Parts, RunWorld } from "./parts.ts";

const NEVER = new AbortController().signal;

type Commits = Readonly<Record<string, Partial<CommandReport>>>;

const fails = (...failures: string[]): Partial<CommandReport> => ({ failures });

/** A closed run whose target fails, and a branch that is at the next of `bases` each time it is read. */
function makeRun(commits: Commits, bases: readonly string[] = ["base"], left?: readonly string[]) {
  const run = CoreRun.planned([task("one")]);
  run.finish("t.1");
  const seen = new Fold();
  for (const event of run.log) seen.take(event);
  const { tip } = run.state.target;
  const report = { commands: [{ name: "test", green: false, failures: ["x"] }] };
  for (const at of [7, 8]) seen.take({ type: "target.checked", tip, report, at });
  const why = left ?? ["the gate fails on the target: test: x"];
  seen.take({ type: "run.closed", how: "incomplete", left: why, at: 9 });
  const home = {
    record: { run: "a", base: "b", baseBranch: "main", settings: toSettings(defaultConfig()) },
    owner: async () => undefined,
    lock: async () => ({ release: async () => {} }),
  } as unknown as RunHome;
  const looks = [...bases];
  let now = looks[0]!;
  let target = "target";
  const gated: string[] = [];
  const proofs: unknown[] = [];
  const gate = async ({ commit, isFresh }: { readonly commit: string; readonly isFresh?: true }) => {
    assert.equal(isFresh, true, "what fails in a used workspace decides nothing");
    gated.push(commit);
    const one = { name: "test", green: false, failures: [], ...commits[commit] };
    return {
      report: { commands: [{ ...one, green: commits[commit] === undefined }] },
      problems: [],
      tail: "",
    };
  };
  const land = async ({ to, proof }: { readonly to: string; readonly proof: unknown }) => {
    target = to;
    proofs.push(proof);
    return { is: "landed" };
  };
  const world = {
    close: async () => {},
    workspaces: { close: async () => {} },
    place: { filterProblem: async () => undefined },
    jobs: { gate: { run: gate }, repository: { land } },
  } as unknown as RunWorld;
  /** `merged+x` contains x, as `target` contains the base that the run started from. */
  const isIn = (base: string, tip: string) => base === "base" || tip.endsWith(`+${base}`);
  const parts = {
    openWorld: () => world,
    git: async (...args: string[]) => {
      if (args[0] === "rev-parse") return args.at(-1)!.replace(/^merged\+(.*)\^2$/, "$1");
      return args[0] === "merge-base" && isIn(args[2]!, args[3]!) ? "" : undefined;
    },
    delivery: {
      bring: async ({ only }: DeliveryWanted): Promise<Brought> => {
        now = looks.shift() ?? now;
        const isThere = only === undefined || (only.base === now && only.target === target);
        return isThere ? { is: "delivered", from: now, to: target } : { is: "base-moved", base: now, target };
      },
      mergeBase: async () => ({ is: "candidate", commit: `merged+${now}`, onto: target }),
      letGo: async () => {},
    },
  } as unknown as Pick<Parts, "openWorld" | "git" | "delivery">;
  return { request: { home, seen }, parts, gated, proofs };
}

async function deliver(...[commits, bases, left]: Parameters<typeof makeRun>) {
  const { request, parts, gated, proofs } = makeRun(commits, bases, left);
  const end = await deliverRed(request, parts, NEVER);
  return { end: hasFailed(end) ? end : end.end, gated, proofs };
}

describe("a target on which the gate fails", () => {
  it("is not delivered without --red, and the refusal says what to do", async () => {
    const { request, parts, gated } = makeRun({ base: fails("x"), target: fails("x") });
    const end = await deliverRun(request, parts, NEVER);
    assert.ok(hasFailed(end));
    assert.match(end.failure.message, /the gate fails on the target of run a: it is not delivered/);
    assert.match(end.failure.next!, /if all that fails there fails on your branch .*: skein deliver a --red/);
    assert.deepEqual(gated, []);
  });

  it("is delivered if all that fails there fails on the branch as well, and that is named", async () => {
    const { end, gated } = await deliver({ base: fails("x", "y"), target: fails("x") });
    const failing = ["test: x"];
    assert.deepEqual(end, { is: "delivered", from: "base", to: "target", isMerged: false, failing });
    assert.deepEqual(gated, ["base", "target"]);
  });

  it("is refused for another failure, which is named", async () => {
    const { end } = await deliver({ base: fails("x"), target: fails("x", "z") });
    assert.deepEqual(end, { is: "red-otherwise", failures: ["test: z"] });
  });

  it("is refused if the branch passes by now", async () => {
    const { end } = await deliver({ target: fails("x") });
    assert.deepEqual(end, { is: "red-otherwise", failures: ["test: x"] });
  });

  it("is refused if nobody can tell: no name, nothing that ran, too many to name", async () => {
    for (const [how, why] of [
      [{ failures: [] }, "test: what fails has no name"],
      [{ failures: ["x"], blocked: "no test ran" }, "test: no test ran"],
      [{ failures: ["x"], more: 7 }, "test: of 8 failures only 1 have a name"],
    ] as const)
      for (const commits of [
        { base: how, target: fails("x") },
        { base: fails("x"), target: how },
      ])
        assert.deepEqual((await deliver(commits)).end, { is: "unjudged", why: [why] });
  });

  it("is compared with the branch as it is now, also if that moves meanwhile", async () => {
    const commits = { base: fails("x"), target: fails("x"), "merged+new": fails("x"), new: fails("x") };
    const { end, gated, proofs } = await deliver(commits, ["base", "new"]);
    assert.deepEqual(end, {
      ...{ is: "delivered", from: "new", to: "merged+new", isMerged: true },
      failing: ["test: x"],
    });
    assert.deepEqual(gated, ["base", "target", "new", "merged+new"], "each once");
    assert.match(
      JSON.stringify(proofs),
      /"proof":"red-to-red","compared":\["delivery: what fails \(1\) fails on main/,
    );
    const healed = await deliver({ ...commits, new: { failures: [] } }, ["base", "new"]);
    assert.ok("is" in healed.end && healed.end.is === "unjudged");
    const mended = { base: fails("x"), target: fails("x"), "merged+new": fails("x") };
    const refused = (await deliver(mended, ["base", "new"])).end;
    assert.deepEqual(refused, { is: "red-otherwise", failures: ["test: x"] });
  });

  it("does not stand for a part of the goal: that is --partial", async () => {
    const { end } = await deliver(
      { base: fails("x"), target: fails("x") },
      ["base"],
      ["not settled: t.2 (b)"],
    );
    assert.ok(hasFailed(end));
    assert.match(end.failure.next!, /--partial --red$/);
  });
});

it("only the command line can ask for it", () => {
  const source = globSync("src/**/*.{ts,tsx}", { exclude: ["src/**/*.test.*"] });
  const users = source.filter((file) => readFileSync(file, "utf8").includes("deliver-red.ts"));
  assert.deepEqual(users, ["src/surfaces/cli/commands/deliver.ts"]);
});
