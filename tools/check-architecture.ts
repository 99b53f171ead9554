/** Finds files that break the rules of tools/layers.ts, and says how to fix each. */
import { builtinModules } from "node:module";
import path from "node:path";
import { exportsOf, type Import, importsOf } from "./imports.ts";
import { ENTRIES, layerOf, MAX_LINES, WITHOUT_NODE } from "./layers.ts";
import { countLines, isTest, type SourceFile } from "./source-files.ts";

export function checkArchitecture(files: readonly SourceFile[]): readonly string[] {
  const product = files
    .filter(({ path }) => /^src\/.*\.tsx?$/.test(path) && !isTest(path))
    .map((file) => ({ ...file, imports: importsOf(file.text) }));
  const uses = new Map(product.map((file) => [file.path, localImports(file)]));
  return [
    ...product.filter(({ path }) => layerOf(path) === undefined).map(homeless),
    ...product.flatMap(wrongPackages),
    ...Array.from(uses, ([file, used]) => used.flatMap((other) => wrongDirection(file, other))).flat(),
    ...cycles(uses),
    ...unusedExports(product, files),
    ...sharedTypeNames(product),
    ...product.filter(({ text }) => headerOf(text) === undefined).map(undocumented),
    ...files.filter(({ text }) => headerOf(text)?.includes("?")).map(asking),
    ...files.filter(({ text }) => countLines(text) > MAX_LINES).map(tooLong),
  ];
}

type ProductFile = SourceFile & { readonly imports: readonly Import[] };

/** The project's files that this file imports, by path. */
function localImports({ path: file, imports }: ProductFile): readonly string[] {
  const specifiers = imports
    .map(({ specifier = "" }) => specifier)
    .filter((specifier) => specifier.startsWith("."));
  return [...new Set(specifiers.map((specifier) => path.posix.join(path.posix.dirname(file), specifier)))];
}

function wrongPackages({ path: file, imports }: ProductFile): readonly string[] {
  return imports.flatMap(({ specifier, line }) => {
    if (specifier === undefined) {
      return [
        `${file}:${line} imports something computed: write the path out, so that its direction can be checked`,
      ];
    }
    const isNode = specifier.startsWith("node:") || builtinModules.includes(specifier);
    if (!isNode || !WITHOUT_NODE.test(file)) return [];
    return [
      `${file}:${line} imports ${specifier}: core and graph also run where there is no Node. ` +
        `Move ${file} up, or have its caller pass in what it needs`,
    ];
  });
}

function wrongDirection(file: string, used: string): readonly string[] {
  const [from, to] = [layerOf(file), layerOf(used)];
  if (from === undefined) return []; // Reported already, as having no layer.
  if (used === "package.json") return []; // Package.json is data: the version.
  if (to === undefined)
    return [`${file} imports ${used}, which belongs to no layer: move that file into src`];
  if (from === to || from.mayUse.includes(to.name)) return [];
  const allowed = from.mayUse.length === 0 ? "nothing else" : `only ${from.mayUse.join(", ")}`;
  return [
    `${file} imports ${used}: ${from.name} may use ${allowed}, because ${from.why}. ` +
      `Move ${file} up to where ${to.name} may be used, or move what it needs down into ${from.name}`,
  ];
}

/** An export that only a test imports is unused: it should be tested through the code that uses it. */
function unusedExports(product: readonly ProductFile[], files: readonly SourceFile[]): readonly string[] {
  const used = new Set<string>();
  for (const { path: file, text } of files) {
    if (isTest(file) || file.startsWith("test/")) continue;
    for (const { specifier, names } of importsOf(text)) {
      if (!specifier?.startsWith(".")) continue;
      const target = path.posix.join(path.posix.dirname(file), specifier);
      for (const name of names === "all" ? ["*"] : names) used.add(`${target} ${name}`);
    }
  }
  return product
    .filter(({ path: file }) => !ENTRIES.test(file) && !used.has(`${file} *`))
    .flatMap(({ path: file, text }) =>
      [...new Set(exportsOf(text).map(({ name }) => name))]
        .filter((name) => !used.has(`${file} ${name}`))
        .map((name) => `${file} exports ${name}, which nothing but a test imports: keep it to the file`),
    );
}

function sharedTypeNames(product: readonly ProductFile[]): readonly string[] {
  const declared = product.flatMap(({ path: file, text }) =>
    exportsOf(text)
      .filter(({ is }) => is === "type")
      .map(({ name }) => ({ name, file })),
  );
  return [...Map.groupBy(declared, ({ name }) => name)]
    .filter(([, places]) => places.length > 1)
    .map(
      ([name, places]) =>
        `${name} is the name of a type in ${places.map(({ file }) => file).join(", ")}: give each its own name`,
    );
}

/** One message per cycle. Walks with a stack of its own, because an import chain may be long. */
function cycles(uses: ReadonlyMap<string, readonly string[]>): readonly string[] {
  const found: string[] = [];
  const finished = new Set<string>();
  for (const start of uses.keys()) {
    const trail: { readonly file: string; next: number }[] = finished.has(start)
      ? []
      : [{ file: start, next: 0 }];
    while (trail.length > 0) {
      const here = trail.at(-1) as { file: string; next: number };
      const used = uses.get(here.file)?.[here.next];
      here.next += 1;
      if (used === undefined) {
        finished.add(here.file);
        trail.pop();
        continue;
      }
      const at = trail.findIndex(({ file }) => file === used);
      if (at !== -1) found.push(inACircle(trail.slice(at).map(({ file }) => file)));
      else if (!finished.has(used)) trail.push({ file: used, next: 0 });
    }
  }
  return found;
}

const inACircle = (files: readonly string[]) =>
  `${[...files, files[0]].join(" → ")}: files that import each other in a circle are one file; ` +
  "move what they share into a file of its own";

const homeless = ({ path }: SourceFile) =>
  `${path} belongs to no layer: move it into one, or add one to tools/layers.ts`;

const undocumented = ({ path }: SourceFile) =>
  `${path} must open with a doc comment (/** … */): one sentence that states what the file does`;

const asking = ({ path }: SourceFile) =>
  `${path} asks a question in its header: state what the file does, with its nouns`;

/** The doc comment that a file opens with, without the code in it. */
const headerOf = (text: string): string | undefined =>
  /^(?:#!.*\n)?\/\*\*\s(.*?)\*\//s.exec(text)?.[1]?.replaceAll(/```.*?```|`[^`]*`/gs, "");

const tooLong = ({ path, text }: SourceFile) =>
  `${path} has ${countLines(text)} lines, ${MAX_LINES} are allowed: split it by what it does`;
