/** How does the published package come about? JavaScript and types from `src`, into an emptied `dist`. */
import { execFileSync } from "node:child_process";
import { rmSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { ROOT } from "./source-files.ts";

// Node strips no types below node_modules, so what is installed must be JavaScript.
rmSync(path.join(ROOT, "dist"), { recursive: true, force: true });
const compiler = path.join(
  path.dirname(createRequire(import.meta.url).resolve("typescript/package.json")),
  "bin/tsc",
);
execFileSync(process.execPath, [compiler, "--project", "tsconfig.build.json"], {
  cwd: ROOT,
  stdio: "inherit",
});
