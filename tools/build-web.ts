/** `npm run build:web`: the page, from src/surfaces/web into dist/web, as files that need nothing else. */
import { copyFileSync, mkdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";
import { ROOT } from "./source-files.ts";

const FROM = path.join(ROOT, "src/surfaces/web");
const TO = path.join(ROOT, "dist/web");

export async function buildPage(): Promise<number> {
  mkdirSync(TO, { recursive: true });
  await build({
    entryPoints: [path.join(FROM, "main.tsx"), path.join(FROM, "style.css")],
    outdir: TO,
    bundle: true,
    minify: true,
    format: "esm",
    target: "es2023",
    jsx: "transform",
    jsxFactory: "h",
    jsxFragment: "Fragment",
    inject: [path.join(ROOT, "tools/web-jsx.js")],
    tsconfigRaw: {}, // Its own has the automatic runtime, for checks.
    legalComments: "none",
  });
  copyFileSync(path.join(FROM, "index.html"), path.join(TO, "index.html"));
  // Its licence asks to be in every copy.
  copyFileSync(path.join(ROOT, "node_modules/preact/LICENSE"), path.join(TO, "LICENSE-preact.txt"));
  return Math.round(gzipSync(readFileSync(path.join(TO, "main.js"))).length / 1000);
}

if (import.meta.main) console.log(`dist/web: ${await buildPage()} kB of script, gzipped`);
