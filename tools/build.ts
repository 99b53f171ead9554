/** Builds what the package ships into an emptied `dist`: a bundle in lazily loaded chunks, and the types. */
import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { type BuildOptions, build, type Metafile, type Plugin } from "esbuild";
import { buildPage } from "./build-web.ts";
import { importsOf } from "./imports.ts";
import { ROOT } from "./source-files.ts";

const TYPES = path.join(ROOT, "dist/types");
const LIBRARY = ["index", ...["graph", "planning", "subtasks"].map((name) => `surfaces/library/${name}`)];
/** A file of its own that the main entry imports, so that a program gets the same `TaskGraph` through either entry. */
const GRAPH = "src/surfaces/library/graph.ts";

/**
 * Packages that many commands load, bundled in chunks with the parts in use: loading a file each costs more than
 * reading it.
 */
const BUNDLED = ["commander", "yaml", "zod"];
const { dependencies } = JSON.parse(readFileSync(path.join(ROOT, "package.json"), "utf8")) as {
  readonly dependencies: Readonly<Record<string, string>>;
};

rmSync(path.join(ROOT, "dist"), { recursive: true, force: true });

const options: BuildOptions = {
  absWorkingDir: ROOT,
  // The command, the library entries, and the programs that Skein starts.
  entryPoints: [
    "src/surfaces/cli/main.ts",
    ...LIBRARY.map((name) => `src/${name}.ts`).filter((file) => file !== GRAPH),
    "src/adapters/agents/scripted-program.ts",
  ],
  outdir: "dist",
  entryNames: "[name]",
  bundle: true,
  splitting: true,
  format: "esm",
  platform: "node",
  target: "node24",
  // The packages that draw `skein watch` (ink, react) are bundled too: they are 40, and nothing else needs them.
  external: Object.keys(dependencies).filter((name) => !BUNDLED.includes(name)),
  // Only needed by developers of ink, who enable it by a variable: any module of Node can replace it.
  alias: { "react-devtools-core": "node:util" },
  define: { "process.env.NODE_ENV": '"production"' },
  // Some bundled packages load modules of Node with `require`.
  banner: {
    js: 'import { createRequire as $require } from "node:module"; const require = $require(import.meta.url);',
  },
  // Less to parse; names are kept, for stack traces.
  minifyWhitespace: true,
  minifySyntax: true,
  logLevel: "warning",
};
await build({ ...options, entryPoints: [GRAPH], splitting: false, banner: {}, external: [] });
const seen = await build({ ...options, metafile: true, write: false });
const plugins = [apart(GRAPH, "./graph.js"), gathered(seen.metafile.inputs)];
const { metafile } = await build({ ...options, metafile: true, plugins });

writeFileSync(path.join(ROOT, "dist/LICENSES.txt"), licencesOf(Object.keys(metafile.inputs)));
await buildPage();

const compiler = createRequire(import.meta.url).resolve("typescript/package.json");
execFileSync(
  process.execPath,
  [path.join(path.dirname(compiler), "bin/tsc"), "--project", "tsconfig.build.json"],
  { cwd: ROOT, stdio: "inherit" },
);
removeUnreachableTypes();

/**
 * Reduces the number of chunks. esbuild makes one for each set of lazy imports that reach the same files: `skein
 * status` would load 69, at half a millisecond each. So everything that `plan` loads is one set, and what `status`
 * loads besides is another: a lazy file that needs some of a set is made to import all of it.
 */
function gathered(inputs: Metafile["inputs"]): Plugin {
  const lazy = Object.values(inputs).flatMap(({ imports }) =>
    imports.filter(({ kind, external }) => kind === "dynamic-import" && !external).map((one) => one.path),
  );
  const ours = (file: string) => reached(inputs, file).filter((one) => one.startsWith("src/"));
  const first = ours("src/surfaces/cli/program.ts").concat(ours("src/surfaces/cli/commands/plan.ts"));
  const sets = [first, ours("src/surfaces/cli/commands/status.ts").filter((file) => !first.includes(file))];
  const added = new Map(
    lazy.map((file) => {
      const needed = ours(file);
      const wanted = sets.filter((set) => set.some((one) => needed.includes(one))).flat();
      return [path.join(ROOT, file), wanted.filter((one) => one !== file)] as const;
    }),
  );
  return {
    name: "gathered",
    setup: ({ onLoad, onResolve }) => {
      // Resolved without package.json, which allows imports of our files without names to be dropped: the added imports
      // have no names.
      onResolve({ filter: /^\.*\/.*\.tsx?$/ }, ({ path: file, resolveDir }) =>
        resolveDir.includes("node_modules") ? undefined : { path: path.resolve(resolveDir, file) },
      );
      onLoad({ filter: /\.tsx?$/ }, ({ path: file }) => {
        const more = added.get(file) ?? [];
        const lines = more.map((one) => `import ${JSON.stringify(path.join(ROOT, one))};`);
        return more.length === 0
          ? undefined
          : {
              contents: `${readFileSync(file, "utf8")}\n${lines.join("\n")}`,
              loader: file.endsWith("x") ? "tsx" : "ts",
            };
      });
    },
  };
}

/** Makes the bundle import a file that is built separately instead of bundling it again. */
function apart(file: string, built: string): Plugin {
  return {
    name: "apart",
    setup: ({ onResolve }) => {
      onResolve(
        { filter: new RegExp(`/${RegExp.escape(path.basename(file))}$`) },
        ({ path: asked, resolveDir }) =>
          path.join(resolveDir, asked) === path.join(ROOT, file)
            ? { path: built, external: true }
            : undefined,
      );
    },
  };
}

/** The files that are loaded with a file. */
function reached(inputs: Metafile["inputs"], entry: string): readonly string[] {
  const found = new Set([entry]);
  for (const file of found) // The loop also visits files that are added during it.
    for (const { path: one, kind, external } of inputs[file]?.imports ?? [])
      if (kind !== "dynamic-import" && !external) found.add(one);
  return [...found];
}

/** Licences require a copy of themselves in every copy of the code. */
function licencesOf(inputs: readonly string[]): string {
  const names = inputs.flatMap((file) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file)?.[0] ?? []);
  return [...new Set(names)]
    .sort()
    .map((folder) => {
      const file = readdirSync(path.join(ROOT, folder)).find((name) => /^licen[cs]e/i.test(name));
      const { license } = JSON.parse(readFileSync(path.join(ROOT, folder, "package.json"), "utf8"));
      const text = file ? readFileSync(path.join(ROOT, folder, file), "utf8") : `Licence: ${license}\n`;
      return `${folder.replace(/^.*node_modules\//, "")}\n\n${text}`;
    })
    .join("\n---\n\n");
}

/**
 * The compiler writes types for every file that it has read; this removes those that the library's types do not
 * mention.
 */
function removeUnreachableTypes(): void {
  const reached = new Set(LIBRARY.map((name) => path.join(TYPES, `${name}.d.ts`)));
  for (const file of reached) // The loop also visits files that are added during it.
    for (const { specifier = "" } of importsOf(readFileSync(file, "utf8")))
      if (specifier.startsWith("."))
        reached.add(path.join(path.dirname(file), specifier.replace(/\.ts$/, ".d.ts")));
  for (const entry of readdirSync(TYPES, { recursive: true, withFileTypes: true })) {
    const file = path.join(entry.parentPath, entry.name);
    if (entry.isFile() && !reached.has(file)) rmSync(file);
  }
}
