/** Installs the packages of a third-party agent for a trial, from the npm registry into a folder of their own. */
import { execFile } from "node:child_process";
import { access, mkdir, readdir, stat, writeFile } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";
import type { Recipe } from "./recipes.ts";

export type Installed = { readonly bin: string; readonly ms: number; readonly megabytes: number };

/** `ms` is 0 if the packages were installed already. */
export async function install({ name, packages }: Recipe, cache: string): Promise<Installed> {
  const folder = path.join(cache, `${name}-${packages.join("-").replace(/[^\w.-]+/g, "-")}`);
  const done = path.join(folder, "installed");
  const bin = path.join(folder, "node_modules", ".bin");
  const start = performance.now();
  const isThere = await access(done).then(
    () => true,
    () => false,
  );
  if (!isThere) {
    await mkdir(folder, { recursive: true });
    await writeFile(path.join(folder, "package.json"), '{"private": true}\n');
    const args = ["install", "--no-audit", "--no-fund", "--no-save", ...packages];
    await promisify(execFile)("npm", args, { cwd: folder, timeout: MAX_MS, maxBuffer: 10_000_000 });
    await writeFile(done, "");
  }
  const ms = isThere ? 0 : Math.round(performance.now() - start);
  return { bin, ms, megabytes: Math.round((await bytesIn(folder)) / 1e6) };
}

const MAX_MS = 240_000;

async function bytesIn(folder: string): Promise<number> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  const sizes = await Promise.all(files.map((file) => stat(path.join(file.parentPath, file.name))));
  // A binary that is hard-linked from another package counts once.
  const once = new Map(sizes.map(({ dev, ino, size }) => [`${dev}.${ino}`, size]));
  return [...once.values()].reduce((sum, size) => sum + size, 0);
}
