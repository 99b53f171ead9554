/** Tests changes of the gate's definition by workers: refused, asked about or flagged; another test runner lands. */
import assert from "node:assert/strict";
import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { test } from "node:test";
import { makePlace, type Place } from "./cli-place.ts";

type Tool = {
  readonly name: string;
  /** The file that defines the tool's gate; `text` is its content, and `changed` what workers make of it. */
  readonly file: string;
  readonly text: string;
  readonly changed: string;
  readonly flag: string;
  readonly gate: readonly string[];
};

const scripts = (run: string) => JSON.stringify({ scripts: { test: run } });

const NPM: Tool = {
  name: "npm",
  file: "package.json",
  text: scripts("test -e README.md"),
  changed: scripts("true"),
  flag: "package.json: the script test",
  gate: ["npm test"],
};

const TOOLS: readonly Tool[] = [
  {
    name: "make",
    file: "Makefile",
    text: "test: all\n\ttest -e README.md\nall:\n",
    changed: "test: all\n\ttrue\nall:\n",
    flag: "Makefile: the rule test",
    gate: [],
  },
  {
    name: "cargo",
    file: "Cargo.toml",
    text: '[package]\nname = "a"\n[dependencies]\n',
    changed: '[package]\nname = "a"\nautotests = false\n[dependencies]\n',
    flag: "Cargo.toml: which tests are built and run",
    gate: ["cargo test"],
  },
];

/** A plan of two tasks: the first may change the file; the second changes it in its first attempt, and may not. */
async function placeOf({
  file,
  text,
  changed,
}: Tool): Promise<Place & { readonly env: Record<string, string> }> {
  const place = await makePlace({ files: { "README.md": "# here\n", [file]: text } });
  const bin = path.join(place.folder, "bin");
  await mkdir(bin);
  await writeFile(path.join(bin, "cargo"), "#!/bin/sh\ntest -e README.md\n", { mode: 0o755 });
  await writeFile(path.join(place.folder, "changed"), changed);
  const tasks = [
    { id: "one", description: "write one", acceptance: "it is there", scope: ["t.1.txt", file] },
    { id: "two", description: "write two", acceptance: "it is there", scope: ["t.2.txt"] },
  ];
  const agent = `#!/bin/sh
if [ "$SKEIN_KIND" = plan ]; then
  grep -q '"first":true' && echo '${JSON.stringify({ scratchpad: "", tasks })}' || echo '{"scratchpad":"","tasks":[]}'
  exit 0
fi
case "$SKEIN_TASK.$SKEIN_ATTEMPT" in
  t.1.*) cat '${place.folder}/changed' > '${file}';;
  t.2.1) { cat '${place.folder}/changed'; echo; } > '${file}';;
esac
echo "made by $SKEIN_TASK" > "$SKEIN_TASK.txt"
echo '{"status":"complete","summary":"wrote it","concerns":[]}'
`;
  await writeFile(place.agent, agent, { mode: 0o755 });
  return { ...place, env: { PATH: `${bin}:${process.env["PATH"]}` } };
}

const argsOf = ({ gate }: Tool, place: Place, ...more: readonly string[]) => [
  ...["run", "write two files", "--agent", place.agent],
  ...gate.flatMap((line) => ["--gate", line]),
  ...more,
];

for (const tool of TOOLS)
  test(`what ${tool.name} runs: refused outside of its scope, asked about inside, and flagged once it is approved of`, async () => {
    await using place = await placeOf(tool);
    const { env } = place;
    const live = place.with({ env }).start(...argsOf(tool, place, "--set", "gateChanges=ask"));
    await live.says("needs your approval to land");
    const { runs } = JSON.parse((await place.skein("status", "--json")).out);
    const { run } = runs[0];
    const waiting = JSON.parse((await place.skein("status", run, "--json")).out);
    assert.deepEqual(waiting.gateChanges, [{ task: "t.1", name: "one", is: "proposed", flags: [tool.flag] }]);
    const status = await place.skein("status", run);
    assert.match(status.out, /one: .* \(needs your approval\)/);
    assert.match(status.out, new RegExp(`\nnext: skein show ${run} t.1, then skein approve ${run} t.1\n$`));
    await live.says("two landed as");
    assert.equal((await place.skein("approve", run, "one")).code, 0);
    const { code, out } = await live.ended;
    assert.equal(code, 0, out);
    const refused = out.split("\n").find((line) => line.includes("two, attempt 1:")) ?? "";
    assert.ok(refused.includes(`changed files outside its scope: ${tool.file}`), out);
    assert.match(out, /Changes to the gate or to agent instructions \(1\)\n {2}one: /);
    const notes = await place.repository.git(
      "log",
      `--notes=skein/${run}`,
      "--format=%N",
      `skein/${run}/target`,
    );
    const flags = notes.split("\n").flatMap((line) => (line === "" ? [] : JSON.parse(line).flags));
    assert.deepEqual(flags, [tool.flag]);
  });

test("with npm test as the gate, a change of scripts.test lands flagged where its task has the file", async () => {
  await using place = await placeOf(NPM);
  const ran = await place.skein(...argsOf(NPM, place));
  assert.equal(ran.code, 0, ran.out);
  assert.match(ran.out, /one is ready to land, but it changes package\.json: the script test/);
  const [{ run }] = JSON.parse((await place.skein("status", "--json")).out).runs;
  const [flagged] = JSON.parse((await place.skein("status", run, "--json")).out).gateChanges;
  assert.deepEqual(flagged, { task: "t.1", name: "one", is: "landed", flags: [NPM.flag] });
});

test("a file that any task may touch is no way to switch the gate off", async () => {
  const work = `[ "$SKEIN_TASK.$SKEIN_ATTEMPT" = t.1.1 ] && echo '${NPM.changed}' > package.json`;
  await using place = await makePlace({ files: { "README.md": "", "package.json": NPM.text }, work });
  const ran = await place.skein(...argsOf(NPM, place, "--set", "sharedFiles=package.json"));
  assert.equal(ran.code, 0, ran.out);
  assert.match(
    ran.out,
    /one, attempt 1: it changes .* \(package\.json: the script test\), which is outside its/,
  );
  assert.match(ran.out, /one landed as|one \+ two landed as/);
});

test("a change from one test runner to another lands, in scope; that of a gate to none does not", async () => {
  const detected = { ...NPM, gate: [] };
  await using place = await placeOf({ ...detected, changed: "{}" });
  const runner = path.join(place.folder, "changed");
  const few = ["--set", "retry.maxRefused=0"];
  const none = await place.skein(...argsOf(detected, place, ...few));
  assert.equal(none.code, 1);
  assert.match(none.out, /one failed: breaks the gate/);
  await writeFile(runner, scripts("node --test"));
  const other = await place.skein(...argsOf(detected, place, ...few));
  assert.equal(other.code, 0, other.out);
  assert.match(other.out, /one landed as/);
});
