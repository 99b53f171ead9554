/** What keeps a command from the rest of the machine? The system itself, where it can; else nothing does. */

export type Sandbox = {
  readonly level: "bubblewrap" | "none";
  /** What is in force, and why, in words for people. */
  readonly why: string;
  /** The command that runs the given one confined: it writes in these two folders and one file, and nowhere else. */
  wrap(command: Command, place: SandboxPlace): Command;
};

export type Command = readonly [string, ...string[]];

export type SandboxPlace = {
  readonly folder: string;
  readonly temporary: string;
  /** It sees all of the folder, and writes the file. */
  readonly scratchpad?: { readonly folder: string; readonly file?: string } | undefined;
  /**
   * The workspace's own caches of tools, in `folder`. `read`: what was downloaded is seen, there or in the user's home.
   * `keep`: also compiled files and the like are kept in the folder. `fill`: downloads go there, too.
   */
  readonly caches?: { readonly folder: string; readonly may: "read" | "keep" | "fill" } | undefined;
};

/** Runs everything as it is. */
export const noSandbox = (why: string): Sandbox => ({ level: "none", why, wrap: (command) => command });
