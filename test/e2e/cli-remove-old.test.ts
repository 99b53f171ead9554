/** Tests `skein remove --older-than`: which old runs are removed, and what is asked or refused before. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { removeOld } from "../../src/surfaces/cli/acts/remove-old.ts";
import { processInput } from "../../src/surfaces/cli/input.ts";
import { makePlace, type Place } from "./cli-place.ts";

const GATE = ["--gate", "test -f README.md"];

async function done(place: Place): Promise<string> {
  const ran = await place.skein("run", "write two files", "--agent", place.agent, ...GATE, "--json");
  assert.equal(ran.code, 0, ran.err);
  return JSON.parse(ran.out.split("\n")[0]!).request.run;
}

const runsOf = async (place: Place): Promise<readonly string[]> =>
  JSON.parse((await place.skein("status", "--json")).out).runs.map(
    ({ run }: { readonly run: string }) => run,
  );

/** Answers as a person at a terminal who types one line, with the clock that many days ahead. */
async function typed(place: Place, line: string, days: number) {
  const written = { out: "", err: "" };
  const sink = (name: "out" | "err") => ({
    hasColours: false,
    size: () => ({ columns: 80, rows: 24 }),
    write: (text: string) => {
      written[name] += text;
    },
  });
  const context = {
    out: sink("out"),
    err: sink("err"),
    json: false,
    env: { SKEIN_STATE_DIR: place.state, HOME: place.folder },
    folder: place.repository.folder,
    command: "skein",
    now: () => Date.now() + days * 86_400_000,
    input: processInput,
  };
  const input = {
    isTerminal: true,
    line: async () => line,
    all: async () => Buffer.alloc(0),
    close: async () => {},
  };
  return { code: await removeOld(context, { olderThan: "30d" }, () => input), ...written };
}

test("old runs are removed together, after one question; younger and undelivered ones stay and are named", async () => {
  await using place = await makePlace();
  const delivered = await done(place);
  const kept = await done(place);
  assert.equal((await place.skein("deliver", delivered, "--into-checkout")).code, 0);
  const young = await typed(place, "y", 29);
  assert.deepEqual([young.code, young.out, young.err], [0, "no run is removed\n", ""]);
  const declined = await typed(place, "n", 31);
  assert.equal(declined.code, 1);
  assert.match(declined.err, /^Remove 1 run for good\? \[y\/N\] skein: nothing was removed\n$/);
  assert.match(declined.out, new RegExp(`^run ${delivered}, closed 31 d ago: write two files$`, "m"));
  assert.deepEqual((await runsOf(place)).toSorted(), [delivered, kept].toSorted());

  const removed = await typed(place, "y", 31);
  assert.equal(removed.code, 0, removed.err);
  assert.match(
    removed.out,
    new RegExp(`^run ${kept} stays: \\d landings? of it w\\w+ never delivered\\n`, "m"),
  );
  assert.match(removed.out, new RegExp(`^ {2}try: skein deliver ${kept}; or lose what landed: `, "m"));
  assert.match(removed.out, /^1 run is removed$/m);
  assert.deepEqual(await runsOf(place), [kept]);
});

test("without a terminal it takes --yes; an open run stays, and --json says which and why", async () => {
  await using place = await makePlace();
  const delivered = await done(place);
  assert.equal((await place.skein("deliver", delivered, "--into-checkout")).code, 0);
  const live = place.start("run", "write two files", "--agent", place.agent, ...GATE, "--approve", "--json");
  await live.says("plan.proposed");
  live.kill("SIGKILL");
  await live.ended;
  const open = (await runsOf(place)).find((run) => run !== delivered);
  const unasked = await place.skein("remove", "--older-than", "0");
  assert.equal(unasked.code, 2);
  assert.match(unasked.err, /no terminal to ask you whether 1 run may be removed/);
  assert.match(unasked.err, /try: skein remove --older-than 0 --yes\n$/);
  const removed = JSON.parse((await place.skein("remove", "--older-than", "0", "--yes", "--json")).out);
  assert.deepEqual(
    removed.removed.map(({ run }: { readonly run: string }) => run),
    [delivered],
  );
  assert.deepEqual(
    removed.kept.map(({ run }: { readonly run: string }) => run),
    [open],
  );
  assert.match(removed.kept[0].why, /is only stopped, not closed/);
});

test("an age that is none, and an age beside a run, are refused with what to type", async () => {
  await using place = await makePlace();
  for (const [args, words] of [
    [["remove"], /no run is named\ntry: skein remove <run>, or skein remove --older-than 30d/],
    [
      ["remove", "--older-than", "soon"],
      /--older-than soon: must be a duration .*\ntry: such as --older-than 30d/,
    ],
    [["remove", "a", "--older-than", "1d"], /--older-than is about all runs, and a is named/],
    [
      ["remove", "--older-than", "1d", "--yes", "--undelivered"],
      /--older-than never removes work that landed/,
    ],
  ] as const) {
    const refused = await place.skein(...args);
    assert.equal(refused.code, 2, refused.out);
    assert.match(refused.err, words);
  }
});
