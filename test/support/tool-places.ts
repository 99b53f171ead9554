/** Calls the tools of the built-in agent without a model, on a real workspace of a real repository. */
import path from "node:path";
import type { ToolSet } from "ai";
import type { ToolPlace } from "../../src/adapters/agents/tools/place.ts";
import { LocalPrograms } from "../../src/adapters/programs/local.ts";
import { openSandbox } from "../../src/adapters/sandboxes/bubblewrap.ts";
import { noSandbox, type Sandbox } from "../../src/adapters/sandboxes/sandbox.ts";
import { CloneWorkspaces } from "../../src/adapters/workspaces/clones.ts";
import type { JobId } from "../../src/core/job.ts";
import { hasFailed } from "../../src/core/result.ts";
import type { Workspace } from "../../src/ports/workspaces.ts";
import { newFolder } from "./folders.ts";
import { type Files, makeRepository, type TestRepository } from "./repositories.ts";

export const JOB = "work:t.1.1" as JobId;

export const LIMITS = { maxOutputBytes: 20_000, maxFileBytes: 1_000_000, maxCommandMs: 60_000 };

/** A place in a folder of its own, without a repository. */
export function plainPlace(more: Partial<ToolPlace> = {}): ToolPlace {
  const outer = newFolder();
  return {
    job: JOB,
    folder: outer,
    environment: { PATH: process.env["PATH"] ?? "", TMPDIR: outer },
    programs: new LocalPrograms({ folder: path.join(newFolder(), "programs") }),
    sandbox: noSandbox("a test"),
    signal: new AbortController().signal,
    limits: LIMITS,
    ...more,
  };
}

/** The reason why tests of a real sandbox are left out on this machine; false where they run. */
export async function whyNoSandbox(): Promise<string | false> {
  const opened = await openSandbox({ setting: "required", network: true, environment: process.env });
  return hasFailed(opened) ? opened.failure.message : false;
}

/** A sandbox as a run makes it: it hides the state and the checkout, but not git's objects. */
export async function sandboxFor(
  at: { readonly state: string; readonly repository: string },
  more: Partial<Parameters<typeof openSandbox>[0]> = {},
): Promise<Sandbox> {
  const opened = await openSandbox({
    setting: "required",
    network: true,
    environment: process.env,
    hidden: [at.state, at.repository],
    readable: [path.join(at.repository, ".git", "objects")],
    ...more,
  });
  if (hasFailed(opened)) throw new Error(opened.failure.message);
  return opened;
}

export type WorkspacePlace = AsyncDisposable & {
  readonly place: ToolPlace;
  readonly workspace: Workspace;
  readonly workspaces: CloneWorkspaces;
  readonly repository: TestRepository;
  /** The run's durable folder, with workspaces, programs and other state. */
  readonly state: string;
};

export type WorkspaceWish = {
  readonly files?: Files;
  /** Makes the sandbox once the folders that it hides are known. */
  readonly sandbox?: (at: { state: string; repository: string }) => Promise<Sandbox>;
  readonly environment?: Readonly<Record<string, string>>;
};

/** A workspace as a worker gets it. */
export async function workspacePlace(wish: WorkspaceWish = {}): Promise<WorkspacePlace> {
  const repository = await makeRepository({ files: wish.files ?? { "a.txt": "one\n" } });
  const state = newFolder();
  const programs = new LocalPrograms({ folder: path.join(state, "programs") });
  const workspaces = new CloneWorkspaces({
    repository: repository.folder,
    folder: state,
    programs,
    environment: { ...process.env, ...wish.environment },
    limits: { maxMs: 60_000, maxOutputBytes: 100_000, maxFileBytes: 1_000_000 },
    maxFileBytes: 1_000_000,
  });
  const signal = new AbortController().signal;
  const commit = await repository.git("rev-parse", "HEAD");
  const workspace = await workspaces.take({ job: JOB, commit, use: "agent" }, signal);
  if (hasFailed(workspace)) throw new Error(workspace.failure.message);
  const sandbox = await wish.sandbox?.({ state, repository: repository.folder });
  const { folder, environment } = workspace;
  const place = { ...plainPlace({ programs, signal }), folder, environment, ...(sandbox && { sandbox }) };
  return {
    place,
    workspace,
    workspaces,
    repository,
    state,
    async [Symbol.asyncDispose]() {
      await workspaces.release(workspace);
      await repository[Symbol.asyncDispose]();
    },
  };
}

/** Calls a tool, and gives the text that the model reads. */
export async function use(tools: ToolSet, name: string, input: object): Promise<string> {
  const execute = tools[name]?.execute;
  if (!execute) throw new Error(`there is no tool ${name}`);
  return String(await execute(input, { toolCallId: "1", messages: [], context: undefined }));
}
