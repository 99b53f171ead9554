/** The port by which one process sends commands to a run that another process drives, and gets answers. */
import type { Command } from "../core/log/event.ts";
import type { Failed } from "../core/result.ts";

/** None of these throws, except `receive` if the mailbox cannot be read at all. */
export type Mailbox = {
  /** Leaves a command for the process that drives the run now or next. Durable on return. */
  send(command: MailboxMessage): Promise<Letter | Failed>;
  /**
   * The commands in the order in which they were sent, waiting ones and new ones, until `signal`. `onCaughtUp`: called
   * when all that waited were handed over.
   */
  receive(signal: AbortSignal, onCaughtUp?: () => void): AsyncIterable<Received>;
};

/** The commands for a run that exists. */
export type MailboxMessage = Exclude<Command, { readonly type: "open" }>;

export type Letter = {
  /** The answer; undefined if `signal` aborts first. */
  answer(signal: AbortSignal): Promise<Heard | undefined>;
  /** Takes the command back if no process has taken it yet; true if it will not be executed. */
  withdraw(): Promise<boolean>;
};

/** The command is in the log. `refused`: the run does nothing, and says why. */
export type Heard = { readonly is: "heard" } | { readonly is: "refused"; readonly reason: string };

/** Answer it once what follows is durable. It is taken only once: if the engine dies before, there is no answer. */
export type Received = { readonly command: MailboxMessage; answer(heard: Heard): Promise<void> };
