/** Confines a command to its workspace on Linux: bubblewrap shows it the machine read-only, without private folders. */
import { execFile } from "node:child_process";
import { constants, existsSync, lstatSync } from "node:fs";
import { access, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, delimiter, isAbsolute, join, sep } from "node:path";
import { type Failed, failedWith } from "../../core/result.ts";
import { type CacheMounts, cachesIn } from "./caches.ts";
import { noSandbox, type Sandbox, type SandboxCommand, type SandboxPlace } from "./sandbox.ts";
import { toolChains, type Variables } from "./tool-chains.ts";
import { wayTo } from "./way.ts";

type SandboxOptions = {
  readonly setting: "auto" | "required" | "off";
  /** Whether commands reach the network, this machine's own servers included. */
  readonly network: boolean;
  /** Skein's own environment, which names the folders of programs and the home folder. */
  readonly environment: Variables;
  /** Hidden in addition to home folders: Skein's state, and the user's checkout. */
  readonly hidden?: readonly string[];
  /** Readable although they are in a hidden folder: the objects of the user's repository. */
  readonly readable?: readonly string[];
};

/** Opens the sandbox and tries it once, because an installed bwrap may not be permitted. */
export async function openSandbox(options: SandboxOptions): Promise<Sandbox | Failed> {
  if (options.setting === "off") return noSandbox("switched off: commands run as you");
  const found = await tried(options);
  if (!("why" in found)) return found.sandbox;
  if (options.setting === "auto") return noSandbox(`${found.why}: commands run as you; ${found.next}`);
  const next = `${found.next}; or set sandbox to auto, and commands run as you`;
  return failedWith("policy", `a sandbox is required, and ${found.why}`, next);
}

type Missing = { readonly why: string; readonly next: string };

async function tried(options: SandboxOptions): Promise<{ readonly sandbox: Sandbox } | Missing> {
  if (process.platform !== "linux") {
    return { why: `there is none for ${process.platform} yet`, next: "use Linux, or a container" };
  }
  const program = await onPath(options.environment);
  if (program === undefined) return { why: "bwrap is not on the PATH", next: INSTALL };
  const sandbox = bubblewrap(program, options);
  const why = await probe(sandbox);
  return why === undefined ? { sandbox } : { why: `bwrap does not work here (${why})`, next: ALLOW };
}

const INSTALL = "install bubblewrap (apt, dnf, apk and pacman have it)";
const ALLOW =
  "allow user namespaces: sysctl kernel.unprivileged_userns_clone=1, or an AppArmor profile for bwrap";

async function onPath(environment: Variables): Promise<string | undefined> {
  for (const folder of (environment["PATH"] ?? "").split(delimiter).filter(isAbsolute)) {
    const program = join(folder, "bwrap");
    const runs = await access(program, constants.X_OK).then(
      () => true,
      () => false,
    );
    if (runs) return program;
  }
  return undefined;
}

async function probe(sandbox: Sandbox): Promise<string | undefined> {
  const folder = await mkdtemp(join(tmpdir(), "skein-probe-"));
  const [program, ...args] = sandbox.wrap(["/bin/sh", "-c", ":"], { folder, temporary: folder });
  const { promise, resolve } = Promise.withResolvers<string | undefined>();
  execFile(program, args, { timeout: PROBE_MS, killSignal: "SIGKILL" }, (error, _out, errors) =>
    resolve(error ? errors.trim().slice(0, MAX_WHY_CHARS) || error.message : undefined),
  );
  const why = await promise;
  await rm(folder, { recursive: true, force: true });
  return why;
}

/** It takes 10 ms on an idle machine. */
const PROBE_MS = 10_000;
const MAX_WHY_CHARS = 300;

function bubblewrap(program: string, options: SandboxOptions): Sandbox {
  const { environment } = options;
  const wished = [environment["HOME"] ?? "", environment["XDG_RUNTIME_DIR"] ?? "", ...(options.hidden ?? [])];
  const hidden = [...new Set([...ALWAYS, ...wished].flatMap(real))];
  const { paths, links } = shownOf(options, hidden);
  const fixed = [
    ...["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--ro-bind-try", KERNEL, KERNEL],
    ...SECRETS.flatMap(real).flatMap((path) => ["--ro-bind", "/dev/null", path]),
    ...outermost(hidden).flatMap((path) => ["--tmpfs", path]),
  ];
  const shown = [
    ...paths.flatMap((path) => ["--ro-bind-try", path, path]),
    ...[...links].flatMap(([at, to]) => ["--symlink", to, at]),
  ];
  const flags = [...FLAGS, ...(options.network ? [] : ["--unshare-net"])];
  const cachesFor = cachesIn(environment);
  const wrap = (command: SandboxCommand, place: SandboxPlace): SandboxCommand => {
    const [folder, temporary] = [realOr(place.folder), realOr(place.temporary)];
    const pad = place.scratchpad && realOr(place.scratchpad.folder);
    const mine = [folder, temporary].flatMap((path) => ["--bind", path, path]);
    const beside = [...(pad === undefined ? [] : ["--ro-bind-try", pad, pad]), ...outputOf(place)];
    const caches = cacheArguments(cachesFor(place.caches), { hidden, paths });
    const seen = [...paths, ...links.keys(), folder, temporary, ...caches.places].concat(pad ?? []);
    const tmp = seen.some((path) => isBelow(TMP, path)) ? ["--tmpfs", TMP] : ["--bind", temporary, TMP];
    const places = [...fixed, ...tmp, ...shown, ...caches.words, ...beside, ...mine];
    return [program, ...places, ...flags, "--chdir", folder, "--", ...command];
  };
  const net = options.network ? "with network access" : "without network access";
  return {
    level: "bubblewrap",
    why: `bubblewrap: sandboxed commands can write only to their workspace, ${net}`,
    wrap,
  };
}

/**
 * The mounts of caches. A cache in the folder of a tool chain cannot be mounted, because the mount point cannot be
 * made there. A cache that holds a tool chain must not be writable: a test could put a link in the way to the tool
 * chain.
 */
function cacheArguments(
  { own, read }: CacheMounts,
  { hidden, paths }: { readonly hidden: readonly string[]; readonly paths: readonly string[] },
) {
  const isFit = (at: string) =>
    !paths.some((path) => isBelow(at, path)) &&
    (existsSync(at) ||
      (hidden.some((folder) => isBelow(folder, at)) && !paths.some((path) => isBelow(path, at))));
  const mounts = [
    ...own.map((one) => ({ ...one, how: "--bind" })),
    ...read.filter(({ from }) => existsSync(from)).map((one) => ({ ...one, how: "--ro-bind" })),
  ].filter(({ at }) => isFit(at));
  return {
    words: mounts.flatMap(({ how, from, at }) => [how, from, at]),
    places: mounts.map(({ at }) => at),
  };
}

/**
 * Mounts the output file only if it is a plain file: a link in its place would make its target visible and
 * writable.
 */
function outputOf({ scratchpad }: SandboxPlace): readonly string[] {
  if (scratchpad?.file === undefined) return [];
  const file = join(realOr(scratchpad.folder), basename(scratchpad.file));
  const isFile = lstatSync(file, { throwIfNoEntry: false })?.isFile() ?? false;
  return isFile ? ["--bind", file, file] : [];
}

/** What stays visible of the hidden folders: real paths, and the links through which they are reached. */
function shownOf({ environment, readable = [] }: SandboxOptions, hidden: readonly string[]) {
  const isHidden = (path: string) => hidden.some((folder) => isBelow(folder, path));
  const needed = [...readable, "/etc/resolv.conf"].flatMap((name) => wayTo(name) ?? []);
  const seen = [...toolChains(environment, hidden), ...needed.filter(({ path }) => isHidden(path))];
  const paths = outermost([...new Set(seen.map(({ path }) => path))]);
  const isThere = (at: string) => paths.some((path) => path === at || isBelow(path, at));
  const ways = [...seen, ...[wayTo(environment["HOME"] ?? "") ?? []].flat()];
  const links = ways.flatMap((way) => way.links).filter(({ at }) => isHidden(at) && !isThere(at));
  return { paths, links: new Map(links.map(({ at, to }) => [at, to])) };
}

/**
 * Other processes are not visible, and all processes of the command end with its first one. No capability stays,
 * for users who run Skein as root; no input can be injected into a terminal.
 */
const FLAGS: readonly string[] = [
  ...["--unshare-pid", "--unshare-ipc", "--die-with-parent", "--new-session", "--cap-drop", "ALL"],
];

/**
 * Bound to the workspace's own temporary folder, so that files stay for the next command and take no memory. If
 * other paths below it must be visible, it is an empty file system in memory instead: otherwise the folders on the
 * way would be made on disk.
 */
const TMP = "/tmp";

/** /run holds sockets of servers (Docker's gives root), and a read-only mount does not prevent connecting. */
const ALWAYS: readonly string[] = ["/home", "/root", "/run", "/var/run", TMP, "/var/tmp"];

/**
 * Root can write there without any capability, and one file names a program that the kernel runs as root outside
 * of the sandbox. Bubblewrap (0.8) intends to cover it, but only if the folder is writable, which it never is.
 */
const KERNEL = "/proc/sys";

/** Only root can read them, but some users run Skein as root. */
const SECRETS: readonly string[] = ["/etc/shadow", "/etc/shadow-", "/etc/gshadow", "/etc/gshadow-"];

/** The real path, as bwrap requires. The root itself cannot be hidden. */
const real = (path: string): string[] => [wayTo(path)?.path ?? "/"].filter((one) => one !== "/");

const realOr = (path: string): string => real(path)[0] ?? path;

const isBelow = (folder: string, path: string) => path.startsWith(`${folder}${sep}`);

/** Drops paths below another of them. /tmp has its own rule. */
const outermost = (paths: readonly string[]): string[] =>
  paths.filter((path) => path !== TMP && !paths.some((other) => isBelow(other, path))).sort();
