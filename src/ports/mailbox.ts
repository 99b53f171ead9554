/** How does one process say something to a run that another one drives? And how does it learn that it was heard? */
import type { Command } from "../core/log/event.ts";
import type { Failed } from "../core/result.ts";

/** None of these throws, but `receive` where the mailbox cannot be read at all. */
export type Mailbox = {
  /** Leaves a command for the process that drives the run, now or next. Durable on return. */
  send(command: MailboxMessage): Promise<Letter | Failed>;
  /**
   * The commands in the order in which they were sent, those that wait and those that come, until `signal`.
   * `onCaughtUp`: all that waited were handed over.
   */
  receive(signal: AbortSignal, onCaughtUp?: () => void): AsyncIterable<Received>;
};

/** What can be said to a run that is there. */
export type MailboxMessage = Exclude<Command, { readonly type: "open" }>;

export type Letter = {
  /** The answer; undefined if `signal` comes first. */
  answer(signal: AbortSignal): Promise<Heard | undefined>;
  /** Takes it back, if no process has taken it yet: true if none will hear it. */
  withdraw(): Promise<boolean>;
};

/** It is in the log. `refused`: and the run says why it does nothing about it. */
export type Heard = { readonly is: "heard" } | { readonly is: "refused"; readonly reason: string };

/** To be answered once what follows is durable. Taken once: an engine that dies before gives no answer. */
export type Received = { readonly command: MailboxMessage; answer(heard: Heard): Promise<void> };
