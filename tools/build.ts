/** Builds what the package ships into an emptied `dist`: a bundle in lazily loaded chunks, and the types. */
import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { build } from "esbuild";
import { buildPage } from "./build-web.ts";
import { importsOf } from "./imports.ts";
import { ROOT } from "./source-files.ts";

const TYPES = path.join(ROOT, "dist/types");
const LIBRARY = ["index", "surfaces/library/planning", "surfaces/library/subtasks"];

/**
 * Almost every command needs it, and it has 80 files: `skein status` takes 8.9 times as long as `node -e 0` with it
 * outside, 5.8 times with it inside. It stays a dependency as well, for its types.
 */
const BUNDLED = "zod";
const { dependencies } = JSON.parse(readFileSync(path.join(ROOT, "package.json"), "utf8")) as {
  readonly dependencies: Readonly<Record<string, string>>;
};

rmSync(path.join(ROOT, "dist"), { recursive: true, force: true });

const { metafile } = await build({
  absWorkingDir: ROOT,
  // The command, what programs import, and what Skein starts as a program of its own.
  entryPoints: [
    "src/surfaces/cli/main.ts",
    ...LIBRARY.map((name) => `src/${name}.ts`),
    "src/adapters/agents/scripted-program.ts",
  ],
  outdir: "dist",
  entryNames: "[name]",
  bundle: true,
  splitting: true,
  format: "esm",
  platform: "node",
  target: "node24",
  // What draws `skein watch` (ink, react) is inside as well: 40 packages that nobody else needs.
  external: Object.keys(dependencies).filter((name) => name !== BUNDLED),
  // Only for developers of ink, who ask for it by a variable: any module of Node stands in for it.
  alias: { "react-devtools-core": "node:util" },
  define: { "process.env.NODE_ENV": '"production"' },
  // Some of what is inside asks for modules of Node by `require`.
  banner: {
    js: 'import { createRequire as $require } from "node:module"; const require = $require(import.meta.url);',
  },
  metafile: true,
  // Less to parse; names stay, for stack traces.
  minifyWhitespace: true,
  minifySyntax: true,
  logLevel: "warning",
});

writeFileSync(path.join(ROOT, "dist/LICENSES.txt"), licencesOf(Object.keys(metafile.inputs)));
await buildPage();

const compiler = createRequire(import.meta.url).resolve("typescript/package.json");
execFileSync(
  process.execPath,
  [path.join(path.dirname(compiler), "bin/tsc"), "--project", "tsconfig.build.json"],
  { cwd: ROOT, stdio: "inherit" },
);
removeUnreachableTypes();

/** Licences ask to be in every copy. */
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

/** The compiler writes the types of every file that it has read; programs see those that the library's mention. */
function removeUnreachableTypes(): void {
  const reached = new Set(LIBRARY.map((name) => path.join(TYPES, `${name}.d.ts`)));
  for (const file of reached) // A set that grows is followed to its end.
    for (const { specifier = "" } of importsOf(readFileSync(file, "utf8")))
      if (specifier.startsWith("."))
        reached.add(path.join(path.dirname(file), specifier.replace(/\.ts$/, ".d.ts")));
  for (const entry of readdirSync(TYPES, { recursive: true, withFileTypes: true })) {
    const file = path.join(entry.parentPath, entry.name);
    if (entry.isFile() && !reached.has(file)) rmSync(file);
  }
}
