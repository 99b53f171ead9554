/** Mounts the caches of tools in the sandbox: the user's for reading, and the workspace's own for writing. */
import { existsSync, lstatSync, mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import type { SandboxPlace } from "./sandbox.ts";
import type { Variables } from "./tool-chains.ts";
import { wayTo } from "./way.ts";

export type CacheMounts = {
  /** Writable mounts: a folder of the workspace, and where the command sees it. */
  readonly own: readonly Mount[];
  readonly read: readonly Mount[];
};

type Mount = { readonly from: string; readonly at: string };

/** Finds the caches once; which of them are used is decided for each command. */
export function cachesIn(environment: Variables): (caches: SandboxPlace["caches"]) => CacheMounts {
  const home = wayTo(environment["HOME"] ?? "")?.path;
  if (home === undefined) return () => ({ own: [], read: [] });
  const at = (variable: string, usual: string) => environment[variable] ?? join(home, usual);
  const cache = at("XDG_CACHE_HOME", ".cache");
  const places: Record<Fetched, string> = {
    npm: join(home, ".npm/_cacache"),
    "cargo-registry": join(at("CARGO_HOME", ".cargo"), "registry"),
    "cargo-git": join(at("CARGO_HOME", ".cargo"), "git"),
    go: join(at("GOPATH", "go"), "pkg/mod"),
    maven: join(home, ".m2/repository"),
    nuget: join(home, ".nuget/packages"),
  };
  const fetched: readonly Named[] = FETCHED.map((name) => ({ name, at: places[name] }));
  const written: readonly Named[] = [
    { name: "cache", at: cache },
    { name: "gradle", at: join(home, ".gradle") },
    { name: "yarn", at: join(home, ".yarn/berry") },
    { name: "pnpm", at: join(home, ".local/share/pnpm/store") },
  ];
  const programs = PROGRAMS.filter((name) => existsSync(join(cache, name)));
  return (caches) => {
    if (caches === undefined) return { own: [], read: [] };
    const { folder, may } = caches;
    const own = [...(may === "read" ? [] : written), ...(may === "fill" ? fetched : [])];
    const others = may === "fill" ? [] : fetched.map((one) => shown(folder, one));
    return {
      own: own.map((one) => made(folder, one)),
      read: [...others, ...(may === "read" ? [] : programs.flatMap((name) => above(folder, cache, name)))],
    };
  };
}

type Named = { readonly name: string; readonly at: string };

/**
 * Folders of the user's `.cache` that tests start programs from or build against: browsers, package managers,
 * headers.
 */
const PROGRAMS = ["ms-playwright", "puppeteer", "Cypress", "electron", "node", "node-gyp", "prisma"];

/** Mounts a folder over one of the workspace's cache; not over a link that a test may have put there. */
function above(folder: string, cache: string, name: string): readonly Mount[] {
  const on = join(folder, "cache", name);
  const found = lstatSync(on, { throwIfNoEntry: false });
  if (found === undefined) mkdirSync(on, { recursive: true, mode: 0o700 });
  else if (!found.isDirectory()) return [];
  return [{ from: join(cache, name), at: join(cache, name) }];
}

function made(folder: string, { name, at }: Named): Mount {
  const from = join(folder, name);
  mkdirSync(from, { recursive: true, mode: 0o700 });
  return { from, at };
}

/**
 * Uses the downloads of a set-up command instead of the user's cache, because they are all that this workspace
 * needs.
 */
const shown = (folder: string, { name, at }: Named): Mount => ({
  from: isFilled(join(folder, name)) ? join(folder, name) : at,
  at,
});

/** Whether a set-up command of this workspace has downloaded anything. */
export const hasFetched = (folder: string): boolean => FETCHED.some((name) => isFilled(join(folder, name)));

/** Downloads of package managers; only set-up commands add to them. */
const FETCHED = ["npm", "cargo-registry", "cargo-git", "go", "maven", "nuget"] as const;
type Fetched = (typeof FETCHED)[number];

function isFilled(folder: string): boolean {
  try {
    return readdirSync(folder).length > 0;
  } catch {
    return false; // The folder does not exist.
  }
}
