/** Tests whole runs through the library, in a real repository, with functions as agents. */
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { describe, it } from "node:test";
import { createOrchestrator, type PlanFunction, type WorkFunction } from "../../src/index.ts";
import { newFolder } from "../support/folders.ts";
import {
  eventsOf,
  failureOf,
  good,
  LIMIT,
  makePlace,
  part,
  plans,
  writes,
} from "../support/orchestrators.ts";

describe("a run inside a program", LIMIT, () => {
  it("goes from a goal to gated commits, leaves the checkout alone, and delivers when told to", async () => {
    await using place = await makePlace();
    await using skein = place.open({ planner: plans(part("a"), part("b", { after: ["a"] })) });
    const run = good(await skein.run({ goal: "write both" }));
    const live: string[] = [];
    for await (const { type } of run.events) live.push(type);
    assert.deepEqual(await run.ended, { is: "closed", how: "done", left: [] });
    assert.deepEqual([live[0], live.at(-1)], ["run.opened", "run.closed"]);
    assert.equal(live.filter((type) => type === "batch.landed").length, 2);
    assert.deepEqual(
      (await eventsOf(run)).map(({ type }) => type),
      live,
    );
    const { git, folder } = place.repository;
    assert.equal(await git("show", `${run.target}:b.txt`), "b");
    assert.match(await git("log", "-1", "--format=%N", `--notes=skein/${run.run}`, run.target), /green/);
    assert.equal(await readFile(path.join(folder, "a.txt"), "utf8"), "old\n");
    const { is, counts, landings } = run.view();
    assert.deepEqual([is, counts.done, landings.length], ["done", 2, 2]);
    assert.deepEqual(
      run.tasks().map(({ key, word }) => [key, word]),
      [
        ["the goal", "done"],
        ["a", "done"],
        ["b", "done"],
      ],
    );

    const guarded = good(await run.deliver());
    assert.equal(guarded.is, "checked-out");
    assert.equal(good(await run.deliver({ intoCheckout: true })).is, "delivered");
    assert.equal(await readFile(path.join(folder, "b.txt"), "utf8"), "b\n");
  });

  it("gives the whole goal to the worker where nobody plans", async () => {
    await using place = await makePlace();
    const worker: WorkFunction = async ({ spec, task }, { folder, environment }) => {
      assert.equal(environment["PATH"], place.env["PATH"]);
      await writeFile(path.join(folder, "a.txt"), `${task}: ${spec.description}\n`);
      return undefined; // The changed folder is the whole answer.
    };
    const run = good(await place.open({ worker }).run({ goal: "say new", base: "main" }));
    assert.deepEqual(await run.ended, { is: "closed", how: "done", left: [] });
    assert.equal(await place.repository.git("show", `${run.target}:a.txt`), "t: say new");
    assert.match(run.view().concerns[0]?.text ?? "", /the worker gave no handoff/);
  });

  it("tries again, with the reason, what strayed, threw or was refused by the gate", async () => {
    await using place = await makePlace();
    const past: string[][] = [];
    const worker: WorkFunction = async (brief, turn) => {
      past.push(brief.past.map(({ failure }) => failure.kind));
      if (brief.attempt === 1) await writeFile(path.join(turn.folder, "stray.txt"), "");
      if (brief.attempt === 2) throw new Error("a bad day");
      if (brief.attempt === 3) await writeFile(path.join(turn.folder, "bad.txt"), "");
      await writeFile(path.join(turn.folder, "a.txt"), "new\n");
      return { status: "complete", summary: "wrote a" };
    };
    const planner = plans(part("a", { scope: ["a.txt", "bad.txt"] }));
    const run = good(await place.open({ worker, planner }).run({ goal: "write a" }));
    assert.equal((await run.ended).is, "closed");
    assert.deepEqual(past.at(-1), ["out-of-scope", "agent-failed", "gate-red"]);
    const { is, setbacks } = run.view();
    assert.equal(is, "done");
    assert.match(setbacks[0]?.failure.message ?? "", /outside its scope: stray.txt/);
    assert.equal(await place.repository.git("ls-tree", "--name-only", run.target), "a.txt");
  });

  it("asks a planner again that throws, and gives up on one that always does: never done", async () => {
    await using place = await makePlace();
    let turns = 0;
    const flaky: PlanFunction = (brief, turn) => {
      turns += 1;
      if (turns === 1) throw new Error("no answer");
      return plans(part("a"))(brief, turn);
    };
    const run = good(await place.open({ planner: flaky }).run({ goal: "write a" }));
    assert.deepEqual(await run.ended, { is: "closed", how: "done", left: [] });
    const broken = good(
      await place.open({ planner: () => Promise.reject(new Error("no answer")) }).run({ goal: "write a" }),
    );
    const end = await broken.ended;
    assert.ok(end.is === "closed");
    assert.equal(end.how, "failed");
    assert.match(end.left.join(), /failed 10 times in a row, last: the plan function threw: no answer/);
    assert.match(failureOf(await broken.deliver()).message, /nothing has landed/);
  });

  it("plans again with the news, and splits large tasks among subplanners", async () => {
    await using place = await makePlace();
    const asked: string[] = [];
    const planner: PlanFunction = ({ first, task, spec, news }) => {
      asked.push(`${task}: ${news.map(({ key }) => key)}`);
      if (task !== "t")
        return { tasks: first ? spec.scope.map((file) => part(file.slice(0, 1), { scope: [file] })) : [] };
      if (first) return { tasks: [part("all", { scope: ["a.txt", "b.txt", "c.txt", "d.txt"] })] };
      return { tasks: news.some(({ key }) => key === "all") ? [part("e")] : [] };
    };
    const run = good(await place.open({ planner }).run({ goal: "write five" }));
    assert.deepEqual(await run.ended, { is: "closed", how: "done", left: [] });
    assert.deepEqual(
      asked.filter((line) => line.startsWith("t:")),
      ["t: ", "t: all", "t: e"],
    );
    assert.equal(run.view().counts.done, 6);
    assert.ok(run.tasks().some(({ name, depth }) => name === "all/d" && depth === 2));
  });

  it("works with agents by configuration as well, each for its own part", async () => {
    await using place = await makePlace();
    const says = JSON.stringify({ status: "complete", summary: "did it" });
    const agent = ["sh", "-c", `cat > /dev/null; echo new > a.txt; echo '${says}'`];
    const run = good(
      await createOrchestrator({
        repository: place.repository.folder,
        env: place.env,
        config: { agent, gate: "none", planner: "none" },
      }).run({ goal: "say new" }),
    );
    assert.deepEqual(await run.ended, { is: "closed", how: "done", left: [] });
    const mixed = createOrchestrator({
      repository: place.repository.folder,
      env: place.env,
      config: { agent, gate: "none" },
      planner: plans(part("a")),
    });
    const second = good(await mixed.run({ goal: "say new" }));
    assert.deepEqual(await second.ended, { is: "closed", how: "done", left: [] });
    assert.equal(await place.repository.git("show", `${second.target}:a.txt`), "new");
  });

  it("lets the configured agent plan for a worker that is a function", async () => {
    await using place = await makePlace();
    const [some, none] = [[part("a"), part("b")], []].map((tasks) => JSON.stringify({ tasks }));
    const script = `cat > /dev/null; if [ "$SKEIN_TURN" = 1 ]; then echo '${some}'; else echo '${none}'; fi`;
    const skein = place.open({ config: { agent: ["sh", "-c", script], gate: "none" } });
    const run = good(await skein.run({ goal: "write both" }));
    assert.deepEqual(await run.ended, { is: "closed", how: "done", left: [] });
    assert.equal(run.view().counts.done, 2);
    const missing = place.open({ config: { agent: ["no-such-program"], gate: "none" } });
    assert.match(failureOf(await missing.run({ goal: "x" })).message, /no-such-program/);
  });

  it("does not mind another one in the same repository at the same time", async () => {
    await using place = await makePlace();
    const runs = await Promise.all(
      ["a", "b"].map(async (id) => good(await place.open({ planner: plans(part(id)) }).run({ goal: id }))),
    );
    const ends = await Promise.all(runs.map(({ ended }) => ended));
    assert.deepEqual(
      ends.map((end) => end.is === "closed" && end.how),
      ["done", "done"],
    );
    const { git } = place.repository;
    assert.equal(await git("show", `${runs[0]?.target}:a.txt`), "a");
    assert.equal(await git("ls-tree", "--name-only", runs[1]?.target ?? ""), "a.txt\nb.txt");
    const listed = good(await place.open().runs()).map(good);
    assert.deepEqual(listed.map(({ run }) => run).toSorted(), runs.map(({ run }) => run).toSorted());
    assert.deepEqual(
      listed.map(({ isGoing }) => isGoing),
      [false, false],
    );
  });
});

describe("mistakes of a program", LIMIT, () => {
  it("in the configuration are named, all at once, in the words of skein.yaml", async () => {
    await using place = await makePlace();
    const config = { worker: 4, workers: 0, retry: { first: "soon" }, gate: [] } as object;
    const { kind, message, next } = failureOf(await place.open({ config }).run({ goal: "write a" }));
    assert.equal(kind, "policy");
    assert.match(message, /config: worker is not a key of skein.yaml; did you mean "workers"/);
    assert.match(message, /config: workers must be a whole number from 1, not 0/);
    assert.match(message, /config: retry\.first must be/);
    assert.match(message, /config: gate has no commands/);
    assert.match(next ?? "", /docs\/configuration\.md/);
    const deliver = { deliver: true } as object;
    assert.match(
      failureOf(await place.open({ config: deliver }).run({ goal: "a" })).next ?? "",
      /deliver\(\)/,
    );
  });

  it("in what is asked for are refused, and nothing is made", async () => {
    await using place = await makePlace();
    const skein = place.open();
    for (const goal of ["", " \n", undefined as unknown as string])
      assert.equal(failureOf(await skein.run({ goal })).message, "the goal is empty");
    assert.match(failureOf(await skein.run({ goal: "a", base: "nowhere" })).message, /nowhere/);
    assert.match(failureOf(await skein.run(undefined as never)).message, /it broke/);
    assert.match(failureOf(await skein.resume("1115-xxxx")).message, /there is no run "1115-xxxx"/);
    assert.match(failureOf(await skein.view("../up")).message, /cannot be the name of a run/);
    const nobody = createOrchestrator({ repository: place.repository.folder, env: place.env });
    assert.match(failureOf(await nobody.run({ goal: "a" })).next ?? "", /give a worker, or config\.agent/);
    const missing = place.open({ config: { planner: ["no-such-program"] } });
    assert.match(failureOf(await missing.run({ goal: "a" })).message, /no-such-program/);
    const model = { kind: "model", provider: "ours", model: "m", baseUrl: "http://192.0.2.1/v1" } as const;
    const unsafe = createOrchestrator({
      repository: place.repository.folder,
      env: { ...place.env, PATH: newFolder() },
      config: { agent: model, sandbox: "required" },
    });
    assert.match(failureOf(await unsafe.run({ goal: "a" })).message, /a sandbox is required/);
    const silent = place.open({ config: { prompts: "no-such-folder" } });
    assert.match(failureOf(await silent.run({ goal: "a" })).message, /no-such-folder/);
    const elsewhere = createOrchestrator({ repository: newFolder(), env: place.env, worker: writes });
    assert.match(failureOf(await elsewhere.run({ goal: "a" })).message, /is not in a git repository/);
    assert.equal(existsSync(place.env["SKEIN_STATE_DIR"] ?? ""), false);
    await place.repository.git("branch", "skein"); // A branch of this name blocks the folder of Skein's branches.
    assert.match(failureOf(await skein.run({ goal: "a" })).message, /skein/);
    assert.deepEqual(await skein.runs(), []);
  });
});
