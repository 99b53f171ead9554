/** Tests `skein status`: the delivery that it offers, the failed attempts that it lists, and its default run. */
import assert from "node:assert/strict";
import path from "node:path";
import { test } from "node:test";
import { makePlace, type Place } from "./cli-place.ts";

const QUICK = ["--set", "retry.first=1ms", "--set", "retry.max=1ms"];

async function runIn(place: Place, ...args: readonly string[]): Promise<string> {
  const ran = await place.skein(
    "run",
    "write two files",
    "--agent",
    place.agent,
    ...QUICK,
    "--json",
    ...args,
  );
  return JSON.parse(ran.out.split("\n")[0]!).request.run;
}

test("a delivery that would be refused because the target is red is not offered", async () => {
  await using place = await makePlace({ work: '[ "$SKEIN_TASK" = t.1 ] || touch "$HOME/red"' });
  const red = path.join(place.folder, "home", "red");
  const few = ["retry.maxRefused=0", "repair.maxRounds=1", "sweep.red=10ms"].flatMap((one) => ["--set", one]);
  const run = await runIn(place, "--gate", `test ! -e '${red}'`, "--set", "gateSandbox=off", ...few);
  const { out } = await place.skein("status", run);
  assert.match(out, /^run .*, incomplete\ngoal .*\ntasks +[12] of 3 done/m);
  assert.match(out, /^target .*\bfailing\b/m);
  assert.match(
    out,
    new RegExp(
      `\nnext: skein show ${run}; the gate fails on the target: .* so it has to pass first \\(.*\\)\n$`,
    ),
  );
  assert.doesNotMatch(out, /--red/);
  assert.match(
    (await place.skein("deliver", run, "--partial", "--into-checkout")).err,
    /the gate fails on the target/,
  );
});

test("a run whose branch has all that landed is said to be delivered", async () => {
  await using place = await makePlace();
  const run = await runIn(place, "--gate", "none");
  assert.match((await place.skein("status", run)).out, /\nnext: skein deliver \S+ --into-checkout\n$/);
  await place.repository.git("merge", "-q", `skein/${run}/target`);
  for (const verb of ["status", "resume"])
    assert.match((await place.skein(verb, run)).out, /\ndelivered to main\n$/, verb);
  assert.equal(JSON.parse((await place.skein("status", run, "--json")).out).deliveredTo, "main");
});

test("a part that was delivered is not offered again", async () => {
  await using place = await makePlace({ work: '[ "$SKEIN_TASK" = t.1 ] || exit 9' });
  const run = await runIn(place, "--gate", "none", "--set", "retry.maxFailed=1");
  assert.equal((await place.skein("deliver", run, "--partial", "--into-checkout")).code, 0);
  const { out } = await place.skein("status", run);
  assert.match(out, new RegExp(`\nnext: skein show ${run}; what landed was delivered to main\n$`));
});

test("of many attempts that failed the newest are told, and how many there were before", async () => {
  const work = '[ "$SKEIN_TASK" = t.2 ] || [ "$SKEIN_ATTEMPT" = 8 ] || exit "$SKEIN_ATTEMPT"';
  await using place = await makePlace({ work });
  const run = await runIn(place, "--gate", "none", "--set", "retry.maxFailed=9");
  const { out } = await place.skein("status", run);
  const [, told = ""] = /\nFailed attempts \(retried\): 7\n((?: {2}.*\n)+)/.exec(out) ?? [];
  assert.equal(told.split("\n").length - 1, 6, out);
  assert.match(told, new RegExp(`attempt 7: .*\n  and 2 earlier: skein show ${run}\n$`));
});

test("show and logs without a name are of the one open run, else of the newest", async () => {
  await using place = await makePlace();
  for (const verb of ["show", "logs"]) {
    const none = await place.skein(verb);
    assert.equal(none.code, 2);
    assert.match(none.err, /there is no run in this repository\ntry: /);
  }
  const same = async (run: string) => {
    for (const verb of ["show", "logs"])
      assert.equal((await place.skein(verb)).out, (await place.skein(verb, run)).out, verb);
  };
  await runIn(place, "--gate", "none");
  await same(await runIn(place, "--gate", "none"));
  const live = place.start("run", "wait", "--agent", place.agent, "--approve", "--gate", "none", "--json");
  await live.says("plan.proposed");
  const { runs } = JSON.parse((await place.skein("status", "--json")).out);
  const { run: open } = runs.find(({ state }: { state: string }) => state === "proposed");
  await runIn(place, "--gate", "none");
  await same(open);
  const { out } = await place.skein("cancel", open);
  assert.match(out, new RegExp(`^run ${open} is being cancelled; the landing in`));
  assert.equal((await live.ended).code, 1);
});
