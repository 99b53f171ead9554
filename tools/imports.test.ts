/** Tests which imports and exports are found in source code. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { exportsOf, importsOf } from "./imports.ts";

const specifiers = (source: string) => importsOf(source).map(({ specifier }) => specifier);

/** A template hole, built so that this file does not contain one. */
const hole = (code: string) => `\${${code}}`;

const ONE: string[] = [
  'import "./x.ts";',
  'import x from "./x.ts"',
  "import x, { y as z } from './x.ts';",
  'import * as x from "./x.ts";',
  'import type { X } from "./x.ts";',
  'import { type X, from } from "./x.ts";',
  'import { from as as } from "./x.ts";',
  'import {\n  // a comment "./no.ts"\n  a,\n  /* } from "./no.ts" */ b,\n} from "./x.ts";',
  'export { a, b } from "./x.ts";',
  'export type { A } from "./x.ts";',
  'export * from "./x.ts";',
  'export * as x from "./x.ts";',
  'export type * from "./x.ts";',
  'const x = await import("./x.ts");',
  'const x = import(/* lazily */ "./x.ts", { with: {} });',
  "const x = import(`./x.ts`);",
  'type X = import("./x.ts").X;',
  `const a = \`${hole('import("./x.ts")')} ${hole('`import("./no.ts")`')}\`;`,
  `const a = \`${hole("{ b: { c: 1 } }")} import "./no.ts"\`; import "./x.ts";`,
  `const a = \`${hole("b")} / \\\` $ "\` / 2; import "./x.ts";`,
  'const a = /["\'`]/; import "./x.ts";',
  'const a = b / c; import "./x.ts"; const d = e / f;',
  'if (a) return /[/"]/.test(b); import("./x.ts")',
  'const a = "\\""; import "./x.ts";',
  '/* " */ import "./x.ts"; // "',
  'import fs, { a } from "./x.ts"; export const b = 1; export { b };',
];

for (const source of ONE)
  test(`finds ./x.ts, and nothing else, in: ${source.replaceAll("\n", "⏎")}`, () => {
    assert.deepEqual(specifiers(source), ["./x.ts"]);
  });

const NONE: string[] = [
  '// import "./no.ts";',
  '/** import "./no.ts" */',
  "const a = 'import \"./no.ts\"';",
  'const a = `\nimport "./no.ts";\n`;',
  'const a = /import "no"/;',
  "import.meta.url;",
  "export const a = 1, b = { from: 'here' };",
  'export { a }; const from = "x";',
  'export function f() { return "from"; }',
  'a.import("./no.ts");',
  'const a = { import: "x", export: "y" };',
  'export default "x";',
];

for (const source of NONE)
  test(`finds nothing in: ${source.replaceAll("\n", "⏎")}`, () => assert.deepEqual(specifiers(source), []));

test("what is computed is found without a name", () => {
  for (const source of ["import(name)", 'import("./" + name)', `import(\`./${hole("name")}.ts\`)`])
    assert.deepEqual(specifiers(source), [undefined]);
});

test("an import knows its line", () => {
  assert.deepEqual(importsOf('/*\n*/\n`\n`;\nimport "./x.ts";'), [
    { specifier: "./x.ts", names: [], line: 5 },
  ]);
});

const NAMES: [string, readonly string[] | "all"][] = [
  ['import a, { b, type c as d } from "./x.ts";', ["default", "b", "c"]],
  ['import type { A } from "./x.ts";', ["A"]],
  ['import { type } from "./x.ts";', ["type"]],
  ['import { type as b } from "./x.ts";', ["type"]],
  ['import * as all from "./x.ts";', "all"],
  ['export { a as b } from "./x.ts";', ["a"]],
  ['const { a, b: c } = await import("./x.ts");', ["a", "b"]],
  ['f((await import("./x.ts")).a);', ["a"]],
  ['type A = import("./x.ts").A;', ["A"]],
  ['import("./x.ts").then(({ a }) => a);', "all"],
  ['const load = () => import("./x.ts");', "all"],
];

for (const [source, names] of NAMES)
  test(`takes ${names} in: ${source}`, () => {
    assert.deepEqual(
      importsOf(source).map(({ names }) => names),
      [names],
    );
  });

test("finds what is exported, and as what", () => {
  const found = (source: string) => exportsOf(source).map(({ name, is }) => `${name} ${is}`);
  assert.deepEqual(found("export const a = 1; const b = 2;"), ["a value"]);
  assert.deepEqual(found("export async function* a() {} export abstract class B {}"), ["a value", "B value"]);
  assert.deepEqual(found("export type A = 1; export interface B {}"), ["A type", "B type"]);
  assert.deepEqual(found("export { a, type B as C };"), ["a handed on", "C handed on"]);
  assert.deepEqual(found('export type { A } from "./a.ts";'), ["A handed on"]);
  assert.deepEqual(found("export default 1;"), ["default value"]);
  assert.deepEqual(found("const a = `export const b = 1`; // export const c"), []);
});
