/** `npm run build:web`: builds the page from src/surfaces/web into dist/web, as files without dependencies. */
import { copyFileSync, mkdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { gzipSync } from "node:zlib";
import { build, type Plugin } from "esbuild";
import { ROOT } from "./source-files.ts";

const FROM = path.join(ROOT, "src/surfaces/web");
const TO = path.join(ROOT, "dist/web");

/** Gzipped. */
export const MAX_SCRIPT_KB = 60;

/** Returns the script's size in kB, gzipped. */
export async function buildPage(to = TO): Promise<number> {
  mkdirSync(to, { recursive: true });
  await build({
    entryPoints: [path.join(FROM, "main.tsx"), path.join(FROM, "style.css")],
    outdir: to,
    bundle: true,
    minify: true,
    format: "esm",
    target: "es2023",
    jsx: "transform",
    jsxFactory: "h",
    jsxFragment: "Fragment",
    inject: [path.join(ROOT, "tools/web-jsx.js")],
    tsconfigRaw: {}, // The page's own tsconfig has the automatic runtime, for type checks.
    legalComments: "none",
    plugins: [plainIndexes],
  });
  copyFileSync(path.join(FROM, "index.html"), path.join(to, "index.html"));
  // The licence requires a copy of itself.
  copyFileSync(path.join(ROOT, "node_modules/preact/LICENSE"), path.join(to, "LICENSE-preact.txt"));
  return gzipSync(readFileSync(path.join(to, "main.js"))).length / 1_000;
}

const INDEXES = ["core/log/deadlines.ts", "core/log/scope-table.ts", "graph/ready-queue.ts"];

/** These indexes are a thirtieth of the script, and only an engine needs them to be fast. */
export const plainIndexes: Plugin = {
  name: "plain indexes",
  setup({ onLoad }) {
    const indexes = new Set(INDEXES.map((file) => path.join(ROOT, "src", file)));
    onLoad({ filter: /\.ts$/ }, ({ path: file }) =>
      indexes.has(file)
        ? { contents: 'export * from "./plain-indexes.ts"', resolveDir: import.meta.dirname }
        : undefined,
    );
  },
};

if (import.meta.main) console.log(`dist/web: ${(await buildPage()).toFixed(1)} kB of script, gzipped`);
