/** Tests that a plan of twenty tasks runs as it is written, also when it is killed or answered wrongly. */
import assert from "node:assert/strict";
import { readdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { describe, it } from "node:test";
import { readPlan } from "../../src/planning/files/read-plan.ts";
import { renderMarkdown } from "../../src/planning/render/markdown.ts";
import { makePlace, type Place } from "./cli-place.ts";
import { agentOfTwenty, FILES, planOfTwenty, TASKS } from "./plan-of-twenty.ts";

const GATE = ["--gate", "test -f README.md", "--set", "retry.first=1ms", "--set", "retry.max=1ms"];

async function placeOfTwenty(before?: string): Promise<Place> {
  const place = await makePlace({ files: FILES });
  await writeFile(path.join(place.folder, "plan.json"), planOfTwenty());
  await writeFile(place.agent, agentOfTwenty(before), { mode: 0o755 });
  return place;
}

const planIn = ({ folder }: Place) => path.join(folder, "plan.json");
const at = (place: Place) => place.with({ env: { PLACE: place.folder } });
const byCommand = ({ agent }: Place) => ["--agent", agent, "--set", "workspace.pass=[PLACE]", ...GATE];

/** How often each task was attempted, by its id. */
async function attempts({ folder }: Place): Promise<ReadonlyMap<string, number>> {
  const lines = (await readFile(path.join(folder, "attempts"), "utf8")).trim().split("\n");
  return new Map([...Map.groupBy(lines, (id) => id)].map(([id, all]) => [id, all.length]));
}

async function runFolder({ state }: Place): Promise<string> {
  const [repository = ""] = await readdir(state);
  const runs = path.join(state, repository, "runs");
  return path.join(runs, (await readdir(runs))[0] ?? "");
}

/** Checks the tree that landed and the result files. */
async function assertMade(place: Place): Promise<void> {
  const { repository } = place;
  const run = path.basename(await runFolder(place));
  const target = `skein/${run}/target`;
  const list = await repository.git("show", `${target}:list.txt`);
  assert.deepEqual(list.split("\n").toSorted(), [
    ...["line of 15", "line of 16", "line of 17", "line of 18"],
    "the list",
  ]);
  const files = (await repository.git("ls-tree", "--name-only", `${target}:made`)).split("\n");
  assert.equal(files.length, 14);
  const scratchpad = path.join(await runFolder(place), "scratchpad");
  for (const { id, metadata } of TASKS) {
    if (metadata.output_file === undefined) continue;
    const text = await readFile(path.join(scratchpad, `result_${id}.md`), "utf8");
    assert.equal(text, `the whole result of ${id}\n`);
  }
}

describe("a plan of twenty tasks", { concurrency: 2 }, () => {
  it("in markdown runs to its end in spite of kill -9, and nothing that was done is done again", async () => {
    const killing = `
if [ "$id" = 11 ] && [ ! -e "$PLACE/killed" ]; then
  touch "$PLACE/killed"
  kill -9 "$(sed 's/.*"pid": *\\([0-9]*\\).*/\\1/' "$PLACE"/state/*/runs/*/owner.json)"
  exit 1
fi`;
    await using place = await placeOfTwenty(killing);
    const read = readPlan(planOfTwenty());
    const markdown = path.join(place.folder, "plan.md");
    await writeFile(markdown, read.is === "plan" ? renderMarkdown(read.plan) : "");
    const killed = await at(place).start("run", markdown, ...byCommand(place)).ended;
    assert.equal(killed.code, null, "it was killed");
    await writeFile(markdown, ""); // The run must use its own copy of the plan.
    const before = await attempts(place);
    const view = JSON.parse((await place.skein("show", "--json")).out);
    const done: readonly string[] = view.tasks.flatMap((task: { key: string; word: string }) =>
      task.word === "done" ? [task.key] : [],
    );
    assert.ok(done.length >= 2, "those that 11 stands on were done");
    const { code, out, err } = await at(place).skein("resume");
    assert.equal(code, 0, out + err);
    assert.match(out, /20 of 20 tasks done/);
    await assertMade(place);
    const after = await attempts(place);
    for (const id of done) assert.equal(after.get(id), before.get(id), `${id} was done before`);
    assert.equal(after.get("11"), 2);
    const brief = path.join(await runFolder(place), "turns", "work-t.9-1", "brief.json");
    const { before: heard } = JSON.parse(await readFile(brief, "utf8"));
    assert.deepEqual(
      heard.map(({ key, summary }: { key: string; summary: string }) => [key, summary.trim()]),
      [
        ["1", "the whole result of 1"],
        ["2", "the whole result of 2"],
      ],
    );
  });

  it("fails a task whose answer is not DONE and its path, says so, and skips what waits for it", async () => {
    const wrong = `
case $id in
  3) echo "made by 3" > /dev/null; mkdir -p made; echo x > made/3.txt; echo r > "$SKEIN_OUTPUT_FILE"; echo "All done!"; exit 0 ;;
  6) mkdir -p made; echo x > made/6.txt; echo "DONE|$SKEIN_OUTPUT_FILE"; exit 0 ;;
esac`;
    await using place = await placeOfTwenty(wrong);
    const { code, out } = await at(place).skein("run", planIn(place), ...byCommand(place));
    assert.equal(code, 1);
    const { out: json } = await place.skein("show", "--json");
    const tasks = new Map<string, string>(
      JSON.parse(json).tasks.map((task: { key: string; word: string }) => [task.key, task.word]),
    );
    assert.deepEqual([tasks.get("3"), tasks.get("6")], ["failed", "failed"]);
    assert.match(out, /All done!/, "what it answered");
    assert.match(out, /DONE\|/, "what it should have answered");
    assert.match(out, /result_6\.md.*empty/s, "a file without a word is none");
    for (const id of ["10", "11", "13", "14", "19", "20"])
      assert.equal(tasks.get(id), "skipped", `${id} waited for one of them`);
    assert.equal(tasks.get("9"), "done");
    const tried = await attempts(place);
    assert.deepEqual(
      [tried.get("3"), tried.get("6")],
      [3, 3],
      "each attempt was told why the last one failed",
    );
  });
});
