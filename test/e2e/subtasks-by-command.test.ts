/** Tests workers that are any programs: they delegate a part of their task, ask, and go on, also across a kill. */
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { describe, it } from "node:test";
import { makePlace, type Place } from "./cli-place.ts";

/** One program for all turns: a `spawn` in the brief marks a subtask, $SKEIN_RESPONSE a turn that goes on. */
const agentOf = ({
  begins,
  child = CHILD,
  goesOn = GOES_ON,
}: Partial<Record<"begins" | "child" | "goesOn", string>>) =>
  `#!/bin/sh
set -eu
json() { node -p "JSON.parse(require('fs').readFileSync(process.argv[1], 'utf8')).$1" "$2"; }
if [ -n "\${SKEIN_RESPONSE:-}" ]; then
${goesOn}
elif grep -q '"spawn":' "$SKEIN_BRIEF"; then
${child}
else
${begins ?? BEGINS}
fi
`;

const BEGINS = `  echo begun > begun.txt
  "$SKEIN" subtask spawn writing "Write the middle" --input word=hello --file README.md --hint prose
  exit 3`;
const CHILD = `  cat begun.txt > middle.txt
  json 'spec.spawn.inputs' "$SKEIN_BRIEF" >> middle.txt
  echo '{"status": "complete", "summary": "the middle is there"}'`;
const GOES_ON = `  cat middle.txt begun.txt > end.txt
  echo "$SKEIN_RESULT_STATUS $(json result.content "$SKEIN_RESPONSE")" >> end.txt
  json 'conversation.map((one) => one.is + ":" + (one.tool ?? one.name)).join()' "$SKEIN_BRIEF" >> end.txt
  echo '{"status": "complete", "summary": "all is there"}'`;

const agentFile = (place: Place) => path.join(place.folder, "delegates.sh");

async function start(place: Place, agent: string, ...args: readonly string[]) {
  await writeFile(agentFile(place), agent, { mode: 0o755 });
  const sets = ["gate=none", ...args].flatMap((set) => ["--set", set]);
  return place.start("run", "write it", "--agent", agentFile(place), "--planner", "none", ...sets);
}

const runIn = (out: string) => /^run +(\S+)$/m.exec(out)?.[1] ?? "";
const eventsOf = async (place: Place, run: string) =>
  (await place.skein("logs", run, "--json")).out
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Readonly<Record<string, unknown>> & { readonly type: string });
const shown = (place: Place, run: string, file: string) =>
  place.repository.git("show", `skein/${run}/target:${file}`);

describe("a program that works on a task", () => {
  it("hands a part to another, goes on with its result, and both land as one", async () => {
    await using place = await makePlace();
    const { code, out, err } = await (await start(place, agentOf({}))).ended;
    assert.equal(code, 0, out + err);
    const run = runIn(out);
    assert.equal(await shown(place, run, "middle.txt"), 'begun\n{"word":"hello"}');
    assert.equal(
      await shown(place, run, "end.txt"),
      'begun\n{"word":"hello"}\nbegun\nCOMPLETE the middle is there\ncall:spawn_subtask,response:subtask',
    );
    const events = await eventsOf(place, run);
    const of = (type: string) => events.filter((event) => event.type === type);
    assert.equal(of("subtask.spawned").length, 1);
    assert.equal(of("batch.landed").length, 1, JSON.stringify(of("batch.landed")));
    assert.doesNotMatch(JSON.stringify(events), /skein_call_/);
  });

  it("is given a long result that was checked whole: cut, with a name, and `show --result` prints all of it", async () => {
    await using place = await makePlace();
    const begins = '  "$SKEIN" subtask spawn listing "List all" --expect json';
    const list = "JSON.stringify({ list: Array.from({ length: 6000 }, (_, n) => n + 10000) })";
    const child = `  node -p 'JSON.stringify({ status: "complete", summary: ${list} })'`;
    const goesOn = `  json result.content "$SKEIN_RESPONSE" > given.txt
  json result.notes.artefact "$SKEIN_RESPONSE" > artefact.txt
  echo '{"status": "complete", "summary": "all is there"}'`;
    const { code, out, err } = await (await start(place, agentOf({ begins, child, goesOn }))).ended;
    assert.equal(code, 0, out + err);
    const run = runIn(out);
    assert.equal((await eventsOf(place, run)).filter(({ type }) => type === "task.retried").length, 0);
    const given = await shown(place, run, "given.txt");
    assert.match(
      given,
      /^\{"list":\[10000,[\s\S]*\n\[cut: about [\d,]+ of 9,\d+ tokens are shown; the whole is kept as \//,
    );
    assert.match(await shown(place, run, "artefact.txt"), /^[0-9a-f]{16}\.txt$/);
    const whole = await place.skein("show", run, "listing-1", "--result");
    assert.equal(JSON.parse(whole.out).list.length, 6_000, whole.err);
    const { result, file } = JSON.parse(
      (await place.skein("show", run, "listing-1", "--result", "--json")).out,
    );
    assert.deepEqual([JSON.parse(result).list.at(-1), existsSync(file)], [15_999, true]);
    assert.match((await place.skein("show", run, "the goal", "--result")).out, /all is there/);
  });

  it("hands on what it was handed: two levels", async () => {
    await using place = await makePlace();
    const child = `  if grep -q '"type":"deep"' "$SKEIN_BRIEF"; then
    echo deep > deep.txt
    echo '{"status": "complete", "summary": "deep enough"}'
  else
    "$SKEIN" subtask spawn deep "Go deeper"
  fi`;
    const goesOn = `  cat deep.txt >> middle.txt
  echo '{"status": "complete", "summary": "went on"}'`;
    const { code, out, err } = await (await start(place, agentOf({ child, goesOn }))).ended;
    assert.equal(code, 0, out + err);
    assert.equal(await shown(place, runIn(out), "middle.txt"), "deep\ndeep");
  });

  it("asks, and goes on with its default when nobody answers", async () => {
    await using place = await makePlace();
    const begins = '  "$SKEIN" ask "Which colour?" --default green --wait 0';
    const goesOn = `  json result.content "$SKEIN_RESPONSE" > colour.txt
  echo '{"status": "complete", "summary": "chosen"}'`;
    const { code, out, err } = await (await start(place, agentOf({ begins, goesOn }))).ended;
    assert.equal(code, 0, out + err);
    assert.equal(await shown(place, runIn(out), "colour.txt"), "green");
  });

  it("is told why a call was refused, and how to end after one", async () => {
    await using place = await makePlace();
    const begins = `  "$SKEIN" subtask spawn writing "Write it" > "${place.folder}/first"
  "$SKEIN" ask "And now?" 2> "${place.folder}/second" && exit 9 || echo $? >> "${place.folder}/second"`;
    const { code, out, err } = await (
      await start(
        place,
        agentOf({
          begins,
          child: CHILD.replace("cat begun.txt", "echo"),
          goesOn: GOES_ON.replace(" begun.txt", ""),
        }),
      )
    ).ended;
    assert.equal(code, 0, out + err);
    assert.match(await readFile(path.join(place.folder, "first"), "utf8"), /accepted: end this program now/);
    assert.match(
      await readFile(path.join(place.folder, "second"), "utf8"),
      /has called spawn_subtask already[\s\S]*\n1\n$/,
    );
  });

  it("loses nothing when Skein is killed right after the call, and goes on when resumed", async () => {
    await using place = await makePlace();
    const begins = `  [ ! -e "${place.folder}/killed" ] || exit 8
${BEGINS.replace("  exit 3", "")}
  touch "${place.folder}/killed"
  kill -9 "$(json pid "$(ls "${place.state}"/*/runs/*/owner.json)")"
  sleep 600`;
    const killed = await (await start(place, agentOf({ begins }))).ended;
    assert.equal(killed.code, null, killed.out + killed.err);
    const { code, out, err } = await place.skein("resume");
    assert.equal(code, 0, out + err);
    const run = runIn(killed.out);
    assert.match(await shown(place, run, "end.txt"), /COMPLETE the middle is there/);
    const started = (await eventsOf(place, run)).filter(({ type }) => type === "job.started");
    assert.equal(started.filter(({ job }) => (job as { readonly kind: string }).kind === "work").length, 3);
    assert.equal(await place.repository.git("for-each-ref", "refs/skein/salvage"), "");
  });

  it("goes on as well when Skein is killed while the subtask works", async () => {
    await using place = await makePlace();
    const child = `  if [ ! -e "${place.folder}/killed" ]; then
    touch "${place.folder}/killed"
    kill -9 "$(json pid "$(ls "${place.state}"/*/runs/*/owner.json)")"
    sleep 600
  fi
${CHILD}`;
    const killed = await (await start(place, agentOf({ child }))).ended;
    assert.equal(killed.code, null, killed.out + killed.err);
    const { code, out, err } = await place.skein("resume");
    assert.equal(code, 0, out + err);
    assert.match(await shown(place, runIn(killed.out), "end.txt"), /COMPLETE the middle is there/);
  });
});

describe("the commands for calls, outside of a worker's turn", () => {
  it("say so, and exit with 2", async () => {
    await using place = await makePlace();
    for (const args of [
      ["subtask", "spawn", "check", "Check it"],
      ["ask", "Why?"],
    ]) {
      const { code, err } = await place.skein(...args);
      assert.equal(code, 2, args.join(" "));
      assert.match(err, /only works in a worker's turn/);
    }
  });

  it("name what is wrong with the call", async () => {
    await using place = await makePlace();
    const wrong: readonly (readonly [RegExp, readonly string[]])[] = [
      [/needs a type and a description/, ["subtask", "spawn", "check"]],
      [/--request is not JSON/, ["subtask", "spawn", "--request", "{"]],
      [/--max-depth must be/, ["subtask", "spawn", "a", "b", "--max-depth", "x"]],
      [/--input must be/, ["subtask", "spawn", "a", "b", "--input", "x"]],
      [/--wait must be/, ["ask", "a", "--wait", "soon"]],
      [/choices are full, none, subset/, ["subtask", "spawn", "a", "b", "--inherit", "all"]],
    ];
    for (const [why, args] of wrong) {
      const { code, err } = await place.skein(...args);
      assert.deepEqual([code, why.test(err)], [2, true], err);
    }
  });
});
