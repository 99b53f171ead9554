/** Talks to a child process of a test line by line; waits for lines and for the end, never for time. */
import { type ChildProcess, spawn } from "node:child_process";
import path from "node:path";
import { createInterface } from "node:readline";

const CHILD = path.join(import.meta.dirname, "log-child.ts");

export class LogChild implements AsyncDisposable {
  readonly process: ChildProcess;
  readonly ended: Promise<void>;
  readonly #lines: AsyncIterator<string>;

  /** `limit`: the largest size of a file, in blocks of 512 bytes. */
  constructor(args: readonly string[], limit?: number) {
    const node = [process.execPath, "--expose-gc", CHILD, ...args];
    const [program = "", ...rest] =
      limit === undefined ? node : ["/bin/sh", "-c", `ulimit -f ${limit}; exec "$@"`, "sh", ...node];
    this.process = spawn(program, rest, { stdio: ["ignore", "pipe", "inherit"] });
    this.ended = new Promise((resolve) => this.process.once("close", () => resolve()));
    this.#lines = createInterface({ input: this.process.stdout! })[Symbol.asyncIterator]();
  }

  /** The next line, parsed as JSON; undefined once the process has ended. */
  async next(): Promise<unknown> {
    const { value, done } = await this.#lines.next();
    return done ? undefined : JSON.parse(value);
  }

  async rest(): Promise<readonly unknown[]> {
    const said: unknown[] = [];
    for (let next = await this.next(); next !== undefined; next = await this.next()) said.push(next);
    return said;
  }

  /** Kills the process with SIGKILL; lines that it had written before can still be read. */
  async kill(): Promise<void> {
    this.process.kill("SIGKILL");
    await this.ended;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill();
  }
}
