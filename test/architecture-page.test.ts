/** Tests that ARCHITECTURE.md is true: its files exist, its ways follow the imports, its lists and drawing are current. */
import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, it } from "node:test";
import { importsOf } from "../tools/imports.ts";
import { DRAWING, drawing, roomArrows, withoutImplied } from "../tools/rooms.ts";
import { isTest, ROOT, sourceFiles } from "../tools/source-files.ts";

const read = (file: string) => readFileSync(path.join(ROOT, file), "utf8");
const PAGE = read("ARCHITECTURE.md");
const MAX_PAGE_LINES = 200;
const MAX_FILES_TO_ENGINE = 9;

/** One line of a way: `parent` is the nearest line above it that is indented less. */
type Step = {
  readonly file: string;
  readonly depth: number;
  readonly note: string;
  readonly parent?: string;
};

const WAYS = [...PAGE.matchAll(/^```\n((?:bin|src)\/[\s\S]*?)^```$/gm)].map(([, text = ""]) => stepsOf(text));

function stepsOf(text: string): readonly Step[] {
  const steps: Step[] = [];
  for (const line of text.trimEnd().split("\n")) {
    const { indent, file, note } = /^(?<indent> *)(?<file>\S+) *(?<note>.*)$/.exec(line)!.groups!;
    const depth = indent!.length / 2;
    const parent = steps.findLast((step) => step.depth < depth)?.file;
    steps.push({ file: file!, depth, note: note!, ...(parent !== undefined && { parent }) });
  }
  return steps;
}

function usedBy(file: string): readonly string[] {
  const text = read(file);
  // The command has no imports: it puts the path of the program together.
  if (file === "bin/skein")
    return [...text.matchAll(/"src", ("[^)]*")/g)].map(
      ([, parts = ""]) => `src/${JSON.parse(`[${parts}]`).join("/")}`,
    );
  return importsOf(text).flatMap(({ specifier }) =>
    specifier?.startsWith(".") ? [path.posix.join(path.posix.dirname(file), specifier)] : [],
  );
}

const SOURCE = sourceFiles(ROOT, ["src"]).filter(({ path }) => !isTest(path));

/** The item of a list that begins with `*title*`. */
const itemOf = (title: string) =>
  PAGE.split(/^- /m)
    .find((part) => part.startsWith(`*${title}*`))
    ?.split("\n\n")[0] ?? "";

describe("ARCHITECTURE.md", () => {
  it("names only files and folders that exist", () => {
    const named = [...PAGE.matchAll(/(?:^|[\s`(])((?:src|test|tools|bin|docs)(?:\/[\w.-]+)+)/gm)].map(
      ([, file = ""]) => file.replace(/\.$/, ""),
    );
    assert.ok(named.length > 80, `${named.length} files`);
    assert.deepEqual(
      named.filter((file) => !existsSync(path.join(ROOT, file))),
      [],
    );
  });

  it("is short: at most 200 lines", () => {
    assert.ok(PAGE.split("\n").length <= MAX_PAGE_LINES, `${PAGE.split("\n").length} lines`);
  });

  it("has one line for each folder of src", () => {
    const rows = [...PAGE.matchAll(/^\| `src\/(\w+)` \|/gm)].map(([, folder]) => folder);
    const folders = readdirSync(path.join(ROOT, "src"), { withFileTypes: true });
    assert.deepEqual(
      rows.toSorted(),
      folders
        .filter((entry) => entry.isDirectory())
        .map(({ name }) => name)
        .sort(),
    );
  });

  it("shows ways in which each file imports those below it, or in which these implement a port that it reaches", () => {
    assert.equal(WAYS.length, 6);
    for (const { file, parent, note } of WAYS.flat()) {
      if (parent === undefined) continue;
      const port = /^behind (src\/ports\/\S+)$/.exec(note)?.[1];
      if (port === undefined) {
        assert.ok(usedBy(parent).includes(file), `${parent} does not import ${file}`);
        continue;
      }
      assert.ok(usedBy(file).includes(port), `${file} does not import ${port}`);
      const near = [parent, ...usedBy(parent)];
      assert.ok(
        near.some((it) => usedBy(it).includes(port)),
        `${parent} does not reach ${port}`,
      );
    }
  });

  it("leads from the command to runEngine in nine files or fewer", () => {
    const [run = []] = WAYS;
    assert.equal(run[0]?.file, "bin/skein");
    assert.ok(run.length <= MAX_FILES_TO_ENGINE, `${run.length} files`);
    assert.deepEqual(
      run.map(({ depth }) => depth),
      [...run.keys()],
    );
    assert.match(read(run.at(-1)!.file), /export async function runEngine\(/);
  });

  it("names every file in which the compiler asks for a new event, or for a new kind of agent", () => {
    const asking = (what: RegExp) => SOURCE.filter(({ text }) => what.test(text)).map(({ path }) => path);
    for (const [item, files] of [
      ["An event", asking(/: Evolvers = |unreachable\(event\)/)],
      ["Another kind of agent", asking(/case "scripted":/)],
    ] as const) {
      assert.ok(files.length >= 2, `${item}: ${files.join(", ")}`);
      for (const file of files)
        assert.ok(itemOf(item).includes(`\`${file}\``), `${item}: ${file} is missing`);
    }
  });
});

describe("docs/rooms.svg", () => {
  it("shows today's imports: `npm run rooms` draws it", () => {
    assert.ok(
      readFileSync(DRAWING, "utf8") === drawing(SOURCE),
      "run npm run rooms, and look at docs/rooms.svg",
    );
  });

  it("has an arrow for each room that is used, but for those that longer ways imply", () => {
    const arrows = roomArrows([
      { path: "src/app/a.ts", text: 'import "../core/b.ts"; import "../ports/c.ts"; import "./d.ts";' },
      { path: "src/ports/c.ts", text: 'import type { B } from "../core/b.ts";' },
      { path: "src/ports/c.test.ts", text: 'import "../app/a.ts";' },
      { path: "src/core/b.ts", text: "" },
      { path: "src/index.ts", text: 'export * from "./app/a.ts";' },
    ]);
    const plain = (all: typeof arrows) =>
      Object.fromEntries(Array.from(all, ([from, to]) => [from, [...to]]));
    assert.deepEqual(plain(arrows), { app: ["core", "ports"], ports: ["core"], core: [], surfaces: ["app"] });
    assert.deepEqual(plain(withoutImplied(arrows)), {
      ...{ app: ["ports"], ports: ["core"] },
      ...{ core: [], surfaces: ["app"] },
    });
  });

  it("is refused for a room without words", () => {
    assert.throws(() => drawing([{ path: "src/cellar/a.ts", text: "" }]), /has no words for src\/cellar/);
  });
});
