/** The port of a sandbox, which keeps a command from the rest of the machine, if the system can. */

export type Sandbox = {
  readonly level: "bubblewrap" | "none";
  readonly why: string;
  /** Returns a command that runs the given one confined: it can write only in these two folders and one file. */
  wrap(command: SandboxCommand, place: SandboxPlace): SandboxCommand;
};

export type SandboxCommand = readonly [string, ...string[]];

export type SandboxPlace = {
  readonly folder: string;
  readonly temporary: string;
  /** The command can read the folder and write the file. */
  readonly scratchpad?: { readonly folder: string; readonly file?: string } | undefined;
  /**
   * The workspace's own caches of tools, in `folder`. `read`: downloads can be read, there or in the user's home.
   * `keep`: compiled files and the like are kept in the folder, too. `fill`: downloads also go there.
   */
  readonly caches?: { readonly folder: string; readonly may: "read" | "keep" | "fill" } | undefined;
};

export const noSandbox = (why: string): Sandbox => ({ level: "none", why, wrap: (command) => command });
