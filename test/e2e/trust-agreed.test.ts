/** Tests consent to what a repository asks for, by the real command: who can give it, and how long it holds. */
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { appendFile, mkdir, readdir, readFile, symlink, writeFile } from "node:fs/promises";
import path from "node:path";
import { describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { main } from "../../src/surfaces/cli/main.ts";
import { plainEnvironment } from "../support/repositories.ts";
import { openTerminal } from "../support/terminal.ts";
import { agree, makePlace, type Place } from "./cli-place.ts";
import { ALONE, agentOf, COMPLETE, ONCE, readOnly, runOf } from "./odd-place.ts";
import { envOf } from "./subtask-place.ts";

const LIMIT = { timeout: 120_000 };
const SKEIN = fileURLToPath(new URL("../../bin/skein", import.meta.url));

const yamlIn = (place: Place) => path.join(place.repository.folder, "skein.yaml");
const hashIn = async (place: Pick<Place, "skein">): Promise<string> =>
  JSON.parse((await place.skein("trust", "--show", "--json")).out).hash;

/** Runs `skein trust` as at a terminal where these lines are typed. */
async function typed(place: Place, lines: readonly string[], ...args: readonly string[]) {
  const written = { out: "", err: "" };
  const left = [...lines];
  const sink = (name: "out" | "err") => ({
    hasColours: false,
    size: () => ({ columns: 100, rows: 30 }),
    write: (text: string) => {
      written[name] += text;
    },
  });
  const input = () => ({
    isTerminal: true,
    line: async () => left.shift(),
    all: async () => Buffer.alloc(0),
    close: async () => {},
  });
  const around = { env: envOf(place, {}), folder: place.repository.folder, input };
  const code = await main(args, { out: sink("out"), err: sink("err") }, around);
  return { code, ...written };
}

describe("a person at a terminal", () => {
  it("is asked by run what the files ask for, and then never again", LIMIT, async () => {
    await using place = await makePlace();
    await writeFile(yamlIn(place), `agent: ["${place.agent}"]\ngate: none\n`);
    const run = (...lines: readonly string[]) =>
      typed(place, lines, "run", "x", "--plain", "--set", "planner=none");
    const no = await run("n");
    assert.equal(no.code, 3);
    assert.match(no.err, /ask for:\n {2}skein\.yaml: agent: .*agent\.sh is started for workers, as you\n/);
    assert.match(no.err, /Agree to this for this repository, now and later\? \[y\/N\]/);
    const yes = await run("y");
    assert.equal(yes.code, 0, yes.err);
    const again = await run();
    assert.equal(again.code, 0, again.err);
    assert.doesNotMatch(again.err, /Agree/);
  });

  it("is asked by skein trust on a real terminal", LIMIT, async () => {
    await using place = await makePlace({ files: { "skein.yaml": "agent: ['./a.sh']\n" } });
    const env = {
      ...plainEnvironment(),
      HOME: path.join(place.folder, "home"),
      SKEIN_STATE_DIR: place.state,
    };
    await using terminal = openTerminal([process.execPath, SKEIN, "trust"], {
      folder: place.repository.folder,
      env,
    });
    await terminal.shows(/now and later\? \[y\/N\]/, 60_000);
    terminal.press("y\r");
    assert.equal(await terminal.exited, 0);
    const { out, code } = await place.skein("trust");
    assert.match(out, /^agreed skein\.yaml: agent/m);
    assert.equal(code, 0);
  });

  it("is asked for the plan after that, on the same terminal", LIMIT, async () => {
    await using place = await makePlace();
    await writeFile(yamlIn(place), `agent: ["${place.agent}"]\ngate: none\n`);
    const env = {
      ...plainEnvironment(),
      HOME: path.join(place.folder, "home"),
      SKEIN_STATE_DIR: place.state,
    };
    const command = [process.execPath, SKEIN, "run", "Write t.1.txt", "--plan", "--plain", "--by", "rules"];
    await using terminal = openTerminal(command, { folder: place.repository.folder, env });
    await terminal.shows(/now and later\? \[y\/N\]/, 60_000);
    terminal.press("y\r");
    await terminal.shows(/Run this plan\?/, 60_000);
    terminal.press("n\r");
    await terminal.exited;
    assert.match(terminal.raw(), /edit it\] n[\s\S]*the plan was not started/, "the second answer was read");
  });

  it("is asked for what is new alone", LIMIT, async () => {
    await using place = await makePlace({ files: { "skein.yaml": "agent: ['./a.sh']\n" } });
    await agree(place);
    await appendFile(yamlIn(place), "workspace: { pass: [MY_KEY] }\n");
    const asked = await typed(place, ["n"], "trust");
    assert.equal(asked.code, 3);
    assert.match(
      asked.err,
      /besides 1 thing that you agreed to before:\n {2}skein\.yaml: workspace\.pass: .*MY_KEY\n/,
    );
    assert.doesNotMatch(asked.err, /a\.sh/);
  });
});

describe("an agreement", () => {
  it("holds for comments, another order and harmless values, not for another command", LIMIT, async () => {
    await using place = await makePlace();
    const text = `agent: ["${place.agent}"]\nbudget: { tokens: 900000 }\n`;
    await writeFile(yamlIn(place), text);
    await agree(place);
    const run = () => place.skein("run", "x", ...ALONE);
    await writeFile(
      yamlIn(place),
      `# less\nbudget: { tokens: 800000 }\nworkers: 2\nagent:\n  - ${place.agent}\n`,
    );
    assert.equal((await run()).code, 0);
    await writeFile(yamlIn(place), text.replace(".sh", ".sh2"));
    assert.equal((await run()).code, 3);
  });

  it("by --trust is for one command, for the whole set, and is not kept", LIMIT, async () => {
    await using place = await makePlace();
    await writeFile(yamlIn(place), `agent: ["${place.agent}"]\n`);
    const hash = await hashIn(place);
    const run = (...more: readonly string[]) => place.skein("run", "x", ...ALONE, ...more);
    assert.equal((await run("--trust", hash)).code, 0);
    assert.equal((await run()).code, 3);
    assert.equal((await place.skein("doctor", "--trust", hash)).code, 0);
    await appendFile(yamlIn(place), "gateSandbox: off\n");
    const other = await run("--trust", hash);
    assert.equal(other.code, 3);
    assert.match(
      other.err,
      /--trust names another set .*\n.*agent.*\n.*gateSandbox.*\ntry: .*--trust [0-9a-f]{40}/,
    );
  });

  it(
    "is for one repository, by whatever path, and for its work trees; a copy of it is another",
    LIMIT,
    async () => {
      await using place = await makePlace({ files: { "skein.yaml": "agent: ['./a.sh']\n" } });
      await agree(place);
      const link = path.join(place.folder, "link");
      await symlink(place.repository.folder, link);
      const tree = path.join(place.folder, "tree");
      await place.repository.git("worktree", "add", "-q", tree);
      const clone = path.join(place.folder, "clone");
      await place.repository.git("clone", "-q", place.repository.folder, clone);
      const codes = [link, tree, clone].map(
        async (folder) => (await place.skein("trust", "--repo", folder)).code,
      );
      assert.deepEqual(await Promise.all(codes), [0, 0, 3]);
    },
  );

  for (const when of ["", ", as does one from before there was trust"])
    it(`can be taken back; a run that was begun keeps it${when}`, LIMIT, async () => {
      const files = { ".worktreeinclude": "key.txt\n", ".gitignore": "key.txt\n" };
      await using place = await makePlace({ files });
      await place.repository.write({ "key.txt": "mine\n" });
      await agree(place);
      const stopped = path.join(place.folder, "go");
      const agent = await agentOf(
        place,
        "slow.sh",
        `[ -e '${stopped}' ] && [ -e key.txt ] || exit 9\necho x > x.txt\n${COMPLETE}`,
      );
      const args = [
        "run",
        "x",
        "--agent",
        agent,
        ...ALONE,
        ...ONCE,
        "--set",
        `workspace.setup=test -e ${stopped}`,
        "--set",
        "gateSandbox=off",
      ];
      const ran = await place.skein(...args);
      assert.equal(ran.code, 3, ran.out);
      assert.match((await place.skein("trust", "--revoke")).out, /^took back 1 agreement /);
      assert.equal((await place.skein(...args)).code, 3);
      await writeFile(stopped, "");
      const run = runOf(ran.out);
      const record = path.join(place.state, (await readdir(place.state))[0]!, "runs", run, "run.json");
      const { agreed, ...older } = JSON.parse(await readFile(record, "utf8"));
      assert.equal(agreed.length, 1);
      if (when !== "") await writeFile(record, JSON.stringify(older));
      const resumed = await place.skein("resume", run);
      assert.equal(resumed.code, 0, resumed.err);
    });

  it("of two processes at once is kept whole", LIMIT, async () => {
    await using place = await makePlace({ files: { "skein.yaml": "agent: ['./a.sh']\nsandbox: off\n" } });
    const hash = await hashIn(place);
    const ended = await Promise.all([1, 2, 3].map(() => place.start("trust", "--trust", hash).ended));
    assert.deepEqual(
      ended.map(({ code }) => code),
      [0, 0, 0],
    );
    assert.equal((await place.skein("trust")).code, 0);
  });

  it("that is damaged is named, trusts nothing and loses nothing", LIMIT, async () => {
    await using place = await makePlace({ files: { "skein.yaml": "agent: ['./a.sh']\nsandbox: off\n" } });
    await agree(place);
    const folder = path.join(place.state, (await readdir(place.state))[0]!, "trust");
    const [first, second] = await readdir(folder);
    await writeFile(path.join(folder, first!), "{");
    const refused = await place.skein("run", "x");
    assert.equal(refused.code, 3);
    assert.ok(refused.err.includes(path.join(folder, first!)), refused.err);
    assert.deepEqual(await readdir(folder), [first, second]);
  });

  it("that cannot be written is a failure that says so", LIMIT, async () => {
    await using place = await makePlace({ files: { "skein.yaml": "agent: ['./a.sh']\n" } });
    const hash = await hashIn(place);
    await mkdir(place.state, { recursive: true });
    await using _ = await readOnly(place.state);
    const failed = await place.skein("trust", "--trust", hash);
    if (_ === undefined) return assert.equal(failed.code, 0); // No disk can be mounted on this machine.
    assert.deepEqual([failed.code, /cannot be kept in /.test(failed.err)], [3, true], failed.err);
  });

  it("of init is given as it writes the file, and --force of another file gives another", LIMIT, async () => {
    const files = {
      "package.json": '{"scripts":{"test":"true"},"dependencies":{"left-pad":"1"}}',
      "package-lock.json": "{}",
    };
    await using place = await makePlace({ files });
    assert.equal((await place.skein("init")).code, 0);
    assert.equal((await place.skein("trust")).code, 0);
  });
});

describe("a job of Skein", () => {
  for (const [who, call] of [
    ["an agent", `"$SKEIN_BIN" trust`],
    ["an agent without its variables", `env -u SKEIN_JOB "$SKEIN_BIN" trust`],
    ["an agent that clears them all", `env -i PATH="$PATH" HOME="$HOME" "$SKEIN_BIN" trust`],
  ] as const)
    it(`cannot agree: ${who}`, LIMIT, async () => {
      await using place = await makePlace({ files: { "README.md": "# here\n" } });
      const said = path.join(place.folder, "said");
      const at = `--repo '${place.repository.folder}'`;
      const work = `SKEIN_BIN='${process.execPath}' ; set -- ; export SKEIN_STATE_DIR='${place.state}'
${call.replace('"$SKEIN_BIN"', `'${process.execPath}' '${SKEIN}'`)} ${at} --trust "$(cat '${place.folder}/hash')" > '${said}' 2>&1; echo "$?" >> '${said}'`;
      const agent = await agentOf(place, "sly.sh", `${work}\necho x > x.txt\n${COMPLETE}`);
      await writeFile(yamlIn(place), "sandbox: off\n");
      await writeFile(path.join(place.folder, "hash"), await hashIn(place));
      const ran = await place.skein("run", "x", "--agent", agent, ...ALONE, "--set", "sandbox=auto");
      assert.equal(ran.code, 0, ran.err);
      assert.match(await readFile(said, "utf8"), /a job of Skein cannot agree[\s\S]*^3$/m);
      assert.equal((await place.skein("trust")).code, 3, "nothing was agreed to");
    });

  it("cannot agree: a gate, and neither by --trust of another command", LIMIT, async () => {
    await using place = await makePlace({
      files: { "README.md": "# here\n", "skein.yaml": "sandbox: off\n" },
    });
    const said = path.join(place.folder, "said");
    const hash = await hashIn(place);
    const call = (verb: string) =>
      `'${process.execPath}' '${SKEIN}' ${verb} --repo '${place.repository.folder}' --trust ${hash}`;
    const gate = `${call("trust")} > '${said}' 2>&1; ${call("run x --planner none")} >> '${said}' 2>&1; true`;
    const args = ["--agent", place.agent, "--planner", "none", "--gate", gate];
    const ran = await place.skein("run", "x", ...args, "--set", "sandbox=auto", "--set", "gateSandbox=off");
    assert.equal(ran.code, 0, ran.err + ran.out);
    assert.equal((await readFile(said, "utf8")).match(/a job of Skein cannot agree/g)?.length, 2);
    assert.ok(existsSync(said));
    assert.equal((await place.skein("trust")).code, 3, "nothing was agreed to");
  });
});
