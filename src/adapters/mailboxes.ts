/** Hands commands from one process to another as files in the run's folder, each taken once. */
import { randomBytes } from "node:crypto";
import { mkdir, readdir, rename, rm } from "node:fs/promises";
import path from "node:path";
import * as z from "zod";
import { messageOf } from "../core/failure.ts";
import { type Failed, failedWith } from "../core/result.ts";
import type { TaskId } from "../core/task.ts";
import type { Heard, Letter, Mailbox, MailboxMessage, Received } from "../ports/mailbox.ts";
import { parseJson } from "../text/json.ts";
import { readShort } from "./files/read-bounded.ts";
import { Wakes } from "./files/wakes.ts";
import { writeDurably, writeWhole } from "./files/write-whole.ts";

const text = z.string();
const task = text.transform((id) => id as TaskId);
/** A command that another process wrote, perhaps of another version. */
const COMMAND = z.discriminatedUnion("type", [
  z.object({ type: z.literal("pause") }),
  z.object({ type: z.literal("resume") }),
  z.object({ type: z.literal("steer"), message: text }),
  z.object({ type: z.literal("answer"), question: text, text }),
  z.object({ type: z.literal("approve"), task: task.optional() }),
  z.object({ type: z.literal("decline"), reason: text, task: task.optional() }),
  z.object({ type: z.literal("cancel"), task: task.optional(), reason: text.optional() }),
]);

/** Undefined if this version does not know the command. */
export const readCommand = (written: string): MailboxMessage | undefined =>
  COMMAND.safeParse(parseJson(written)).data as MailboxMessage | undefined;

/**
 *   <n>.json ──taken by rename──→ <n>.taken ──→ gone
 *                                    └──────→ <n>.answer ──read by the sender──→ gone
 */
export class FolderMailbox implements Mailbox {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  async send(command: MailboxMessage): Promise<Letter | Failed> {
    const name = nextName();
    try {
      await writeDurably(this.#file(name, SENT), JSON.stringify(command));
    } catch (error) {
      const why = `the command could not be left in ${this.#folder}: ${messageOf(error)}`;
      return failedWith("repository", why, "make room on the disk, or make the folder writable");
    }
    return {
      answer: (signal) => this.#answer(name, signal),
      withdraw: () => this.#take(name, "withdrawn"),
    };
  }

  async *receive(signal: AbortSignal, onCaughtUp?: () => void): AsyncGenerator<Received> {
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
    using wakes = new Wakes(path.join(this.#folder, ANY));
    while (!signal.aborted) {
      for (const name of await this.#waiting()) {
        const received = await this.#receive(name);
        if (received) yield received;
        if (signal.aborted) return;
      }
      onCaughtUp?.();
      await wakes.next(signal);
    }
  }

  async #receive(name: string): Promise<Received | undefined> {
    if (!(await this.#take(name, TAKEN))) return undefined; // The command was withdrawn in between.
    const answer = async (heard: Heard) => {
      await writeWhole(this.#file(name, ANSWER), JSON.stringify(heard)).catch(() => {}); // The sender gets no answer.
      await rm(this.#file(name, TAKEN), { force: true }).catch(() => {}); // A taken file is never taken again.
    };
    const command = readCommand(await readShort(this.#file(name, TAKEN)));
    if (command) return { command, answer };
    await answer({ is: "refused", reason: "this version does not know that command" });
    return undefined;
  }

  /** Takes a command: of several processes that try, the rename succeeds for one. */
  async #take(name: string, as: string): Promise<boolean> {
    try {
      await rename(this.#file(name, SENT), this.#file(name, as));
    } catch {
      return false; // Another process was faster.
    }
    if (as !== TAKEN) await rm(this.#file(name, as), { force: true });
    return true;
  }

  async #answer(name: string, signal: AbortSignal): Promise<Heard | undefined> {
    const file = this.#file(name, ANSWER);
    using wakes = new Wakes(file);
    for (; !signal.aborted; await wakes.next(signal)) {
      const heard = await readShort(file);
      if (heard === "") continue;
      await rm(file, { force: true });
      return JSON.parse(heard) as Heard;
    }
    return undefined;
  }

  async #waiting(): Promise<readonly string[]> {
    const files = await readdir(this.#folder).catch(() => []);
    return files.flatMap((file) => (file.endsWith(SENT) ? [file.slice(0, -SENT.length)] : [])).sort();
  }

  #file(name: string, ending: string): string {
    return path.join(this.#folder, `${name}${ending}`);
  }
}

const [SENT, TAKEN, ANSWER] = [".json", ".taken", ".answer"];
/** Every name begins with it, so that every new file wakes the receiver. */
const ANY = "c";

let count = 0;

/** A name that sorts by time, and within one process by the order of sending. */
function nextName(): string {
  count += 1;
  const time = String(Date.now()).padStart(15, "0");
  return `${ANY}${time}-${String(count).padStart(6, "0")}-${randomBytes(4).toString("hex")}`;
}
