/** Tests that the documents are true: runs the commands and programs that they show on a real repository. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { chmod, mkdir, readdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { describe, it } from "node:test";
import { pathToFileURL } from "node:url";
import { environmentOf } from "../src/adapters/workspaces/environment.ts";
import { CONFIGURATION, withKeys } from "../tools/docs.ts";
import { ROOT } from "../tools/source-files.ts";
import { newFolder } from "./support/folders.ts";
import { type Files, makeRepository, plainEnvironment, type TestRepository } from "./support/repositories.ts";

const LIMIT = { timeout: 120_000 };
const textOf = (file: string) => readFileSync(path.join(ROOT, file), "utf8");

describe("the documents", () => {
  it("have the keys of today's configuration: `npm run docs` writes them", () => {
    const text = readFileSync(CONFIGURATION, "utf8");
    assert.equal(text, withKeys(text));
    assert.match(
      text,
      /\*\*`workspace\.copy`\*\* \(list, default `\["node_modules"\]`, `SKEIN_WORKSPACE_COPY`\)/,
    );
  });

  it("link only to what is there", () => {
    for (const file of documents()) {
      const links = [...textOf(file).matchAll(/\]\((?!https?:)([^)#]*)(?:#([^)]*))?\)/g)];
      for (const [whole, to = "", section] of links) {
        const linked = to === "" ? file : path.posix.join(path.posix.dirname(file), to);
        assert.ok(existsSync(path.join(ROOT, linked)), `${file}: ${whole}`);
        if (section !== undefined) assert.ok(sectionsOf(linked).includes(section), `${file}: ${whole}`);
      }
    }
  });

  it("have lines of at most 120 characters", () => {
    const long = documents().flatMap((file) =>
      textOf(file)
        .split("\n")
        .flatMap((line, i) => ([...line].length > 120 ? [`${file}:${i + 1}`] : [])),
    );
    assert.deepEqual(long, []);
  });
});

const documents = () => [
  "README.md",
  "ARCHITECTURE.md",
  "CHANGELOG.md",
  ...readdirSync(path.join(ROOT, "docs"))
    .filter((name) => name.endsWith(".md"))
    .map((name) => `docs/${name}`),
];

/** The headings of a page, as GitHub turns them into anchors. */
const sectionsOf = (file: string) =>
  [...textOf(file).matchAll(/^#+ (.*)$/gm)].map(([, title = ""]) =>
    title
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} -]/gu, "")
      .replaceAll(" ", "-"),
  );

/** The shell blocks of a page, in order. */
const blocksOf = (file: string) =>
  [...textOf(file).matchAll(/^```sh\n([\s\S]*?)^```$/gm)].map(([, code = ""]) => code);

/** A program's name is in its second line; the block after the program shows how it is used. */
function programOf(name: string): { readonly code: string; readonly use: string } {
  const blocks = blocksOf("docs/agents.md");
  const at = blocks.findIndex((code) => code.startsWith(`#!/bin/sh\n# ${name}:`));
  const [code = "", use = ""] = blocks.slice(at);
  assert.ok(at >= 0 && use.includes(`./${name}`), `docs/agents.md shows no ${name} and its use`);
  return { code, use };
}

/** The text from a heading to the next one. */
const sectionOf = (title: string) =>
  textOf("docs/agents.md")
    .split(/^##+ /m)
    .find((part) => part.startsWith(title)) ?? "";

/** The names in the first column of a section's table. */
const listedIn = (title: string) =>
  [...sectionOf(title).matchAll(/^\| (`[^|]*) \|/gm)]
    .flatMap(([, names = ""]) => [...names.matchAll(/`(\w+)`/g)].map(([, name = ""]) => name))
    .sort();

type Said = { readonly code: number; readonly out: string };
type Place = AsyncDisposable & {
  readonly repository: TestRepository;
  readonly state: string;
  /** Puts a program beside the files of the repository, uncommitted. */
  readonly save: (name: string, code: string) => Promise<void>;
  /** Runs commands as a person types them who has `skein` on the PATH. */
  readonly type: (commands: string) => Promise<Said>;
};

async function makePlace(files: Files, programs: Readonly<Record<string, string>> = {}): Promise<Place> {
  const repository = await makeRepository({ files });
  const folder = newFolder();
  const [home, state, tools] = ["home", "state", "tools"].map((name) => path.join(folder, name));
  await mkdir(home!);
  await mkdir(tools!);
  for (const [name, code] of Object.entries(programs))
    await writeFile(path.join(tools!, name), code, { mode: 0o755 });
  const PATH = [path.join(ROOT, "bin"), path.dirname(process.execPath), tools, process.env["PATH"]].join(":");
  const env = {
    ...plainEnvironment(),
    PATH,
    HOME: home!,
    SKEIN_STATE_DIR: state!,
    SKEIN_RETRY_FIRST: "10ms",
  };
  return {
    repository,
    state: state!,
    save: (name, code) => writeFile(path.join(repository.folder, name), code),
    type: (commands) => shell(commands, repository.folder, env),
    [Symbol.asyncDispose]: () => repository[Symbol.asyncDispose](),
  };
}

function shell(commands: string, cwd: string, env: NodeJS.ProcessEnv): Promise<Said> {
  const { promise, resolve } = Promise.withResolvers<Said>();
  const child = execFile("/bin/sh", ["-c", commands], { cwd, env, timeout: 90_000 }, (error, out, err) =>
    resolve({ code: error === null ? 0 : Number(error.code ?? -1), out: out + err }),
  );
  child.stdin?.end();
  return promise;
}

/** The name of the run that `skein run` printed. */
const runIn = ({ out }: Said) => /^run +(\S+)$/m.exec(out)?.[1] ?? assert.fail(out);

async function runs(place: Place, name: string): Promise<{ readonly run: string; readonly target: string }> {
  const { code, use } = programOf(name);
  await place.save(name, code);
  const said = await place.type(use);
  assert.equal(said.code, 0, said.out);
  const run = runIn(said);
  return { run, target: `skein/${run}/target` };
}

/** Answers with a plan in prose and a fence, as models do, and as a worker writes the file that the prompt names. */
const CODER = `#!/bin/sh
prompt=$(cat)
case $prompt in
  *'"first":true'*) cat <<'END'
I had a look. Here is the plan:
\`\`\`json
{"scratchpad": "two files", "tasks": [
  {"id": "a", "description": "Write a", "acceptance": "it is there", "scope": ["a.txt"]},
  {"id": "b", "description": "Write b", "acceptance": "it is there", "scope": ["b.txt"]}
]}
\`\`\`
END
    ;;
  "You plan"*) echo 'Nothing is missing: {"tasks": []}' ;;
  *)
    file=$(printf '%s\\n' "$prompt" | sed -n 's/.*Change only: //p')
    printf '%s\\n' "$prompt" | sed -n 's/^The task: //p' > "$file"
    echo "I wrote $file."
    ;;
esac
`;

/** The programs of a page, each with the output that the page says it prints. */
const programsOf = (file: string) =>
  [...textOf(file).matchAll(/^```ts\n([\s\S]*?)^```\n\n```text\n([\s\S]*?)^```$/gm)].map(
    ([, code = "", printed = ""]) => ({ code, printed }),
  );

describe("what docs/graph.md shows works:", () => {
  const programs = programsOf("docs/graph.md");
  assert.equal(programs.length, textOf("docs/graph.md").match(/^```ts$/gm)?.length);
  for (const [i, { code, printed }] of programs.entries())
    it(`program ${i + 1} prints what stands below it`, LIMIT, async () => {
      const graph = pathToFileURL(path.join(ROOT, "src/surfaces/library/graph.ts")).href;
      const file = path.join(newFolder(), "program.ts");
      await writeFile(file, code.replace('"skein-agents/graph"', JSON.stringify(graph)));
      const said = await shell(`"${process.execPath}" "${file}"`, ROOT, plainEnvironment());
      assert.deepEqual(said, { code: 0, out: printed });
    });
});

describe("what docs/agents.md shows works:", { concurrency: 2 }, () => {
  it("a worker in three lines", LIMIT, async () => {
    await using place = await makePlace({ LICENSE: "MIT (c) 1999 somebody\n" });
    const { target } = await runs(place, "year.sh");
    const year = new Date().getFullYear();
    assert.equal(await place.repository.git("show", `${target}:LICENSE`), `MIT (c) ${year} somebody`);
  });

  it("a planner and worker, whose briefs have the fields that are listed, and no others", LIMIT, async () => {
    await using place = await makePlace({ "README.md": "# here\n" });
    const { run, target } = await runs(place, "two-tasks.sh");
    assert.equal(await place.repository.git("show", `${target}:sentence.txt`), "Hello, world!");
    const landed = await place.repository.git("rev-list", "--first-parent", "--count", `main..${target}`);
    assert.equal(landed, "2");
    const [repository = ""] = await readdir(place.state);
    const turns = path.join(place.state, repository, "runs", run, "turns");
    const fieldsOf = (turn: string) =>
      Object.keys(JSON.parse(readFileSync(path.join(turns, turn, "brief.json"), "utf8")) as object).sort();
    assert.deepEqual(fieldsOf("plan-t-1"), listedIn("The brief of a planner"));
    assert.deepEqual(fieldsOf("work-t.2-1"), listedIn("The brief of a worker"));
  });

  it("a program gets the variables that it names, and none that it excludes", () => {
    const [, text = ""] = sectionOf("How Skein starts a program").split("**Its environment**");
    const [listed = "", excluded = ""] = text.split("Nothing else is passed on");
    const names = [...new Set([...listed.matchAll(/`([A-Z_]+)`/g)].map(([, name = ""]) => name))];
    const others = [...excluded.split("Skein adds")[0]!.matchAll(/`([A-Z_]+)`/g)].map(
      ([, name = ""]) => name,
    );
    assert.ok(names.length > 20 && others.length > 0);
    const from = Object.fromEntries(
      [...names, ...others, "HTTPS_PROXY", "SOME_API_KEY"].map((n) => [n, "x"]),
    );
    const person = { name: "A", email: "a@example.invalid" };
    const given = environmentOf({ from, pass: [], temporary: "/t", ceiling: "/", person, settings: [] });
    const kept = Object.keys(from).filter((name) => given[name] === "x");
    assert.deepEqual(kept, names);
    for (const name of Object.keys(given)) assert.ok(text.includes(`\`${name}`), `${name} is not told`);
  });

  it("a wrapper around a coding agent, its model out of reach at first", LIMIT, async () => {
    const outage = `#!/bin/sh
[ -e "$HOME/been-here" ] || { touch "$HOME/been-here"; echo 'error: rate limit'; exit 1; }
exec my-coder-itself
`;
    const coder = { "my-coder": outage, "my-coder-itself": CODER };
    await using place = await makePlace({ "SPEC.md": "# Two files\n\nWrite a and b.\n" }, coder);
    const { run, target } = await runs(place, "wrapper.sh");
    assert.equal(await place.repository.git("show", `${target}:a.txt`), "Write a");
    assert.equal(await place.repository.git("show", `${target}:b.txt`), "Write b");
    const shown = await place.type(`skein show ${run} b`);
    assert.match(shown.out, /I wrote b\.txt\./);
    assert.match(shown.out, /transcripts\/work_t\.2_1-\w+\.log/);
    const goal = await place.type(`skein show ${run} t`);
    assert.match(goal.out, /planner: agent-unreachable: .*exit code 75.*rate limit/);
  });

  it("a worker that delegates, and goes on with what its subtask made", LIMIT, async () => {
    await using place = await makePlace({ "README.md": "# here\n" });
    const { target } = await runs(place, "delegates.sh");
    assert.match(
      await place.repository.git("show", `${target}:double.js`),
      /^module\.exports = .*\n\/\/ COMPLETE: wrote it$/,
    );
    assert.match(await place.repository.git("show", `${target}:double.test.js`), /equal/);
  });

  it("a script of the repository's own, named in skein.yaml and not committed", LIMIT, async () => {
    await using place = await makePlace({ LICENSE: "(c) 1999\n", "below/file": "\n" });
    await place.save("year.sh", programOf("year.sh").code);
    await chmod(path.join(place.repository.folder, "year.sh"), 0o755);
    await place.save("skein.yaml", 'agent: ["./year.sh"]\nplanner: none\n');
    const said = await place.type(
      `cd below && skein trust --trust "$(skein trust --show | sed -n 's/^hash *//p')" && skein run "the year"`,
    );
    assert.equal(said.code, 0, said.out);
  });
});

describe("what docs/state.md shows works:", () => {
  it("removing a run takes its refs and its folder, and nothing of another run", LIMIT, async () => {
    await using place = await makePlace({ LICENSE: "(c) 1999\n" });
    const [first, second] = [await runs(place, "year.sh"), await runs(place, "year.sh")];
    const { git } = place.repository;
    await git("update-ref", `refs/skein/salvage/${first.run}/t.9`, "main");
    const [command = "", byHand = ""] = blocksOf("docs/state.md");
    const asked = command.replace(/remove \S+/, `remove ${first.run} --yes --undelivered`);
    const removed = await place.type(asked);
    assert.equal(removed.code, 0, removed.out);
    assert.doesNotMatch(await git("for-each-ref"), new RegExp(first.run));
    assert.match(await git("for-each-ref"), new RegExp(`refs/notes/skein/${second.run}`));
    assert.match(await git("for-each-ref"), new RegExp(`refs/heads/${second.target}`));
    const [repository = ""] = await readdir(place.state);
    assert.deepEqual(await readdir(path.join(place.state, repository, "runs")), [second.run]);
    const rest = await place.type(byHand.replace(/^run=\S+/, `run=${second.run}`));
    assert.equal(rest.code, 0, rest.out);
    assert.doesNotMatch(await git("for-each-ref"), /skein/);
    assert.equal(await git("status", "--porcelain"), "?? year.sh");
  });
});
