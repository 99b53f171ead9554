/** How is a command kept in its workspace by Linux itself? Bubblewrap shows it the machine, read-only and with gaps. */
import { execFile } from "node:child_process";
import { constants, existsSync, realpathSync } from "node:fs";
import { access, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, isAbsolute, join, sep } from "node:path";
import { failure } from "../../core/failure.ts";
import type { Failed } from "../../ports/repository.ts";
import { type Command, noSandbox, type Sandbox, type SandboxPlace } from "./sandbox.ts";
import { type Shown, toolChains, type Variables } from "./tool-chains.ts";

export type SandboxOptions = {
  readonly setting: "auto" | "required" | "off";
  /** Whether commands reach the network, this machine's own servers included. */
  readonly network: boolean;
  /** Skein's own: where programs and the home folder are. */
  readonly environment: Variables;
  /** Besides home folders: Skein's state, and the user's checkout. */
  readonly hidden?: readonly string[];
  /** Shown for reading although they are in a hidden folder: the objects of the user's repository. */
  readonly readable?: readonly string[];
};

/** Tried once: what is installed need not be allowed. */
export async function openSandbox(options: SandboxOptions): Promise<Sandbox | Failed> {
  if (options.setting === "off") return noSandbox("switched off: commands run as you");
  const found = await tried(options);
  if (!("why" in found)) return found.sandbox;
  if (options.setting === "auto") return noSandbox(`${found.why}: commands run as you; ${found.next}`);
  const next = `${found.next}; or set sandbox to auto, and commands run as you`;
  return { failure: failure("policy", `a sandbox is required, and ${found.why}`, next) };
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

/** It takes 10 ms; a machine that is busy with others takes longer. */
const PROBE_MS = 10_000;
const MAX_WHY_CHARS = 300;

function bubblewrap(program: string, options: SandboxOptions): Sandbox {
  const home = options.environment["HOME"] ?? "";
  const wished = [home, options.environment["XDG_RUNTIME_DIR"] ?? "", ...(options.hidden ?? [])];
  const hidden = [...new Set([...ALWAYS, ...wished].flatMap(real))];
  const isHidden = (path: string) => hidden.some((folder) => isBelow(folder, path));
  const needed = [...(options.readable ?? []), "/etc/resolv.conf"].flatMap((name) =>
    real(name).map((path): Shown => (path === name || !isHidden(name) ? { path } : { path, name })),
  );
  const seen = [...toolChains(options.environment, hidden), ...needed.filter(({ path }) => isHidden(path))];
  const fixed = [
    ...["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"],
    ...SECRETS.flatMap(real).flatMap((path) => ["--ro-bind", "/dev/null", path]),
    ...outermost(hidden).flatMap((path) => ["--tmpfs", path]),
  ];
  const shownPaths = outermost([...new Set(seen.map(({ path }) => path))]);
  const shown = [
    ...shownPaths.flatMap((path) => ["--ro-bind-try", path, path]),
    ...links(home, seen, hidden),
  ];
  const flags = [...FLAGS, ...(options.network ? [] : ["--unshare-net"])];
  const wrap = (command: Command, place: SandboxPlace): Command => {
    const [folder, temporary] = [realOr(place.folder), realOr(place.temporary)];
    const mine = [folder, temporary].flatMap((path) => ["--bind", path, path]);
    const isInTmp = [...shownPaths, folder, temporary].some((path) => isBelow(TMP, path));
    const tmp = isInTmp ? ["--tmpfs", TMP] : ["--bind", temporary, TMP];
    return [program, ...fixed, ...tmp, ...shown, ...mine, ...flags, "--chdir", folder, "--", ...command];
  };
  const net = options.network ? "with the network" : "without a network";
  return { level: "bubblewrap", why: `bubblewrap: commands write in their workspace alone, ${net}`, wrap };
}

/**
 * Processes of others are not seen, and those of the command end with it: the first one gone, the system kills all.
 * No capability stays, for those who run Skein as root; a terminal cannot be typed into.
 */
const FLAGS: readonly string[] = [
  ...["--unshare-pid", "--unshare-ipc", "--die-with-parent", "--new-session", "--cap-drop", "ALL"],
];

/**
 * Where the workspace's own is, so that a file there is still there for the next command, and takes no memory. Where
 * something else in it has to be shown it is empty and in memory: the folders on the way would be made on disk.
 */
const TMP = "/tmp";

/** /run holds sockets of the machine's servers (Docker's is as good as root), and to connect is not to write. */
const ALWAYS: readonly string[] = ["/home", "/root", "/run", "/var/run", TMP, "/var/tmp"];

/** Readable for root alone, which some run Skein as. */
const SECRETS: readonly string[] = ["/etc/shadow", "/etc/shadow-", "/etc/gshadow", "/etc/gshadow-"];

/** Links in hidden folders are gone with them: those by which something that is shown is named are made again. */
function links(home: string, seen: readonly Shown[], hidden: readonly string[]): string[] {
  const [realHome = home] = real(home);
  const isLinked = realHome !== home && hidden.some((folder) => isBelow(folder, home));
  const viaHome = (name: string) =>
    isLinked && isBelow(home, name) ? realHome + name.slice(home.length) : name;
  const isReached = (name: string) => seen.some(({ path }) => path === name || isBelow(path, name));
  const names = new Map(isLinked ? [[home, realHome]] : []);
  for (const { path, name } of seen) {
    const there = name === undefined ? path : viaHome(name);
    if (!isReached(there)) names.set(there, path);
  }
  return [...names].flatMap(([name, path]) => ["--symlink", path, name]);
}

/** In the sandbox a path must not lead through a link. The root itself cannot be hidden. */
function real(path: string): string[] {
  try {
    return isAbsolute(path) && existsSync(path) ? [realpathSync(path)].filter((one) => one !== "/") : [];
  } catch {
    return []; // A loop of links: nothing is there.
  }
}

const realOr = (path: string): string => real(path)[0] ?? path;

const isBelow = (folder: string, path: string) => path.startsWith(`${folder}${sep}`);

/** What is in a hidden folder is hidden already, and so with a shown one. /tmp has its own rule. */
const outermost = (paths: readonly string[]): string[] =>
  paths.filter((path) => path !== TMP && !paths.some((other) => isBelow(other, path))).sort();
