/** Reads many git objects and refs through one long-lived `git cat-file` process. */
import type { ChildProcessWithoutNullStreams } from "node:child_process";
import { messageOf } from "../../core/failure.ts";
import { keepAlive, startGit } from "./git.ts";

type Found = {
  readonly is: "found";
  readonly id: string;
  readonly type: string;
  readonly bytes: number;
  /** Empty if only asked for `info`. */
  readonly content: Buffer;
};

type Read = Found | { readonly is: "missing" } | { readonly is: "failed"; readonly why: string };

type Question = {
  readonly line: string;
  readonly hasContent: boolean;
  readonly answer: (read: Read) => void;
  isSecondTime: boolean;
};

/**
 * The process is started by the first question, and again if it died. While idle it does not keep this program
 * from exiting, and it ends with this program, because its input is closed then.
 */
export class ObjectReader implements Disposable {
  readonly #folder: string;
  readonly #environment: Readonly<Record<string, string>>;
  readonly #maxMs: number;
  #child: ChildProcessWithoutNullStreams | undefined;
  #waiting: Question[] = [];
  #chunks: Buffer[] = [];
  #bytes = 0;
  /** How many bytes must be there before parsing again. */
  #wanted = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(folder: string, environment: Readonly<Record<string, string>>, maxMs = MAX_MS) {
    this.#folder = folder;
    this.#environment = environment;
    this.#maxMs = maxMs;
  }

  /** The id, type and size of the object that a checked name stands for. */
  info(name: string): Promise<Read> {
    return this.#ask("info", name);
  }

  /** As `info`, with all of its bytes: ask for the size first if it could be large. */
  contents(name: string): Promise<Read> {
    return this.#ask("contents", name);
  }

  readonly [Symbol.dispose] = (): void => this.close();

  close(): void {
    const child = this.#child;
    this.#lose("it was closed", true);
    child?.stdin.end();
  }

  /** Answers with a new process from now on, including open questions, because an old one still sees removed packs. */
  renew(): void {
    const child = this.#child;
    const asked = this.#waiting;
    this.#waiting = []; // The questions are not lost: they count as asked for the first time.
    this.#lose("it was renewed", false);
    child?.stdin.end();
    for (const question of asked) this.#send(question);
  }

  #ask(command: "info" | "contents", name: string): Promise<Read> {
    if (/[\n\0]/.test(name) || name === "") throw new Error(`no name of an object: ${JSON.stringify(name)}`);
    const { promise, resolve } = Promise.withResolvers<Read>();
    this.#send({
      line: `${command} ${name}\n`,
      hasContent: command === "contents",
      answer: resolve,
      isSecondTime: false,
    });
    return promise;
  }

  #send(question: Question): void {
    try {
      this.#child ??= this.#start();
    } catch (thrown) {
      question.answer({ is: "failed", why: `git cat-file: ${messageOf(thrown)}` });
      return;
    }
    const child = this.#child;
    this.#waiting.push(question);
    if (this.#waiting.length === 1) this.#keepAlive(child, true);
    child.stdin.write(question.line);
  }

  #start(): ChildProcessWithoutNullStreams {
    const child = startGit(this.#folder, ["cat-file", "--batch-command"], this.#environment);
    let err = "";
    const gone = (why: string) => {
      if (this.#child === child) this.#lose(why, false);
    };
    child.stdout.on("data", (chunk: Buffer) => {
      if (this.#child === child) this.#take(chunk);
    });
    child.stderr.on("data", (chunk: Buffer) => {
      err = (err + chunk.toString()).slice(-MAX_ERROR_CHARS);
    });
    child.stdin.on("error", () => {}); // The process died: its "close" event says so.
    child.on("error", (error) => gone(error.message));
    child.on("close", () => gone(err.trim() || "git cat-file ended"));
    return child;
  }

  #take(chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.#bytes += chunk.length;
    while (this.#bytes > 0 && this.#bytes >= this.#wanted) {
      const all = this.#chunks.length === 1 ? this.#chunks[0]! : Buffer.concat(this.#chunks);
      this.#chunks = [all];
      const used = this.#answerFrom(all);
      if (used === 0) return;
      this.#wanted = 0;
      this.#bytes -= used;
      this.#chunks = this.#bytes === 0 ? [] : [all.subarray(used)];
    }
  }

  /** How many bytes answered the oldest question; 0 if its answer is incomplete. */
  #answerFrom(all: Buffer): number {
    const end = all.indexOf(0x0a);
    const question = this.#waiting[0];
    if (end === -1) return 0;
    if (question === undefined) {
      this.#end("it answered without being asked");
      return 0;
    }
    const header = all.toString("utf8", 0, end);
    const found = /^([0-9a-f]{40,64}) (\w+) (\d+)$/.exec(header);
    if (found === null) {
      this.#answer(question, { is: "missing" }); // The answer was "<name> missing" or "<name> ambiguous".
      return end + 1;
    }
    const bytes = Number(found[3]);
    const from = end + 1;
    const total = question.hasContent ? from + bytes + 1 : from;
    if (all.length < total) {
      this.#wanted = total;
      return 0;
    }
    const content = question.hasContent ? Buffer.from(all.subarray(from, from + bytes)) : Buffer.alloc(0);
    this.#answer(question, { is: "found", id: found[1]!, type: found[2]!, bytes, content });
    return total;
  }

  #answer(question: Question, read: Read): void {
    this.#waiting.shift();
    if (this.#child !== undefined) this.#keepAlive(this.#child, this.#waiting.length > 0);
    question.answer(read);
  }

  /** With open questions, the process keeps this program alive, and the oldest question has a deadline. */
  #keepAlive(child: ChildProcessWithoutNullStreams, isAsked: boolean): void {
    clearTimeout(this.#timer);
    if (isAsked) {
      this.#timer = setTimeout(() => this.#end(`no answer within ${this.#maxMs} ms`), this.#maxMs);
    }
    keepAlive(child, isAsked);
  }

  #end(why: string): void {
    const child = this.#child;
    this.#lose(why, true);
    child?.kill("SIGKILL");
  }

  /** Open questions of a process that died are asked once more of a new one. */
  #lose(why: string, isFinal: boolean): void {
    const lost = this.#waiting;
    if (this.#child !== undefined) this.#keepAlive(this.#child, false);
    this.#child = undefined;
    this.#waiting = [];
    this.#chunks = [];
    this.#bytes = 0;
    this.#wanted = 0;
    for (const question of lost) {
      if (isFinal || question.isSecondTime) question.answer({ is: "failed", why: `git cat-file: ${why}` });
      else {
        question.isSecondTime = true;
        this.#send(question);
      }
    }
  }
}

const MAX_MS = 60_000;
const MAX_ERROR_CHARS = 1_000;
