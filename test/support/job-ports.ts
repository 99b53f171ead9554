/** Ports of a job for tests: each answers as told, and records its calls in order. */
import { ManualClock } from "../../src/adapters/clocks/manual.ts";
import { failure } from "../../src/core/failure.ts";
import type { Probed } from "../../src/core/gate.ts";
import type { JobId } from "../../src/core/job.ts";
import type { Failed } from "../../src/core/result.ts";
import type { Evidence } from "../../src/core/rules/evidence.ts";
import type { GateChange } from "../../src/core/rules/gate-changes.ts";
import type { TaskId, TaskSpec } from "../../src/core/task.ts";
import type { JobParts } from "../../src/jobs/job-parts.ts";
import type { Called, Said } from "../../src/ports/agent.ts";
import type { Look } from "../../src/ports/checkout.ts";
import type { Tried } from "../../src/ports/criteria.ts";
import type { GateRun } from "../../src/ports/gate.ts";
import type { Candidate, Gone, Landed } from "../../src/ports/repository.ts";
import type { Kept, Workspace } from "../../src/ports/workspaces.ts";
import { MemoryArtefacts } from "../../src/subtasks/artefacts.ts";
import { TemplateRegistry } from "../../src/subtasks/registry.ts";

export type Call = readonly [name: string, ...args: readonly unknown[]];

export type Replies = {
  readonly look: { readonly tip: string; readonly landings: readonly [] } | Failed;
  readonly candidate: Candidate | Gone | Failed;
  readonly gate: GateRun | Failed;
  readonly probe: Probed | Failed;
  readonly changes: readonly GateChange[] | Failed;
  readonly land: Landed | Gone | Failed;
  readonly whole: Failed | undefined;
  readonly evidence: Evidence | Failed;
  readonly take: Workspace | Failed;
  readonly keep: Kept | Failed;
  readonly said: Said | Called;
  readonly output: { readonly text: string } | { readonly problem: string };
  readonly criterion: Tried | Failed;
  /** The states of the checkout at the first look and at later ones. */
  readonly looks: readonly (Look | Failed)[];
};

export const broken = (message: string): Failed => ({ failure: failure("repository", message, "try again") });

export const SPEC: TaskSpec = {
  key: "a",
  description: "write a",
  acceptance: "a is there",
  scope: ["a.txt"],
  after: [],
  priority: 5,
  delivers: "change",
  shape: "work",
  slug: "write-a",
};

export const EVIDENCE: Evidence = {
  commit: "kept",
  filesChanged: ["a.txt"],
  diff: "+ secret",
  linesAdded: 1,
  linesRemoved: 0,
  filesCreated: 1,
  filesModified: 0,
  deletedTests: [],
  disabledTests: [],
  forbiddenMarks: [],
};

export const GREEN: GateRun = {
  report: { commands: [{ name: "test", green: true, failures: [] }] },
  problems: [],
  tail: "",
};

export const RED: GateRun = {
  report: { commands: [{ name: "test", green: false, failures: ["adds"] }] },
  problems: [{ class: "tests", name: "test: adds", files: ["a.txt"], message: "secret: 1 is not 2" }],
  tail: "secret: 1 is not 2",
};

export const MEMBER = { task: "t.1" as TaskId, attempt: 1 };

export function jobPorts(replies: Partial<Replies> = {}): {
  readonly parts: JobParts;
  readonly calls: readonly Call[];
} {
  const calls: Call[] = [];
  const all: Replies = {
    look: { tip: "onto", landings: [] },
    candidate: { commit: "merged", members: [MEMBER], conflicts: [] },
    gate: GREEN,
    changes: [],
    land: { is: "landed" },
    probe: { is: "proved" },
    whole: undefined,
    evidence: EVIDENCE,
    take: {
      job: "work:t.1#2" as JobId,
      folder: "/w/1",
      commit: "onto",
      environment: {},
      notices: ["no cache"],
    },
    keep: { commit: "kept", left: [] },
    said: { is: "said", text: '{"status": "complete", "summary": "wrote it", "concerns": ["mine"]}' },
    output: { text: "all of it" },
    criterion: { is: "passed" },
    looks: [new Map(), new Map()],
    ...replies,
  };
  const looks = [...all.looks];
  const told =
    <Reply>(name: string, reply: () => Reply) =>
    async (...args: readonly unknown[]): Promise<Reply> => {
      calls.push([name, ...args.filter((arg) => !(arg instanceof AbortSignal))]);
      return reply();
    };
  const agent = {
    turn: told("turn", () => all.said),
    collect: told("collect", () => all.said),
  };
  const parts: JobParts = {
    repository: {
      look: told("look", () => all.look),
      candidate: told("candidate", () => all.candidate),
      land: told("land", () => all.land),
      whole: told("whole", () => all.whole),
      evidence: told("evidence", () => all.evidence),
    },
    gate: {
      run: ({ onCommand: _, onStep: __, ...tree }) => told("gate", () => all.gate)(tree),
      prepare: (tree) => calls.push(["prepare", tree]),
      probe: told("probe", () => all.probe),
      changes: told("changes", () => all.changes),
    },
    workspaces: {
      take: ({ onStep: _, ...want }, signal) => told("take", () => all.take)(want, signal),
      keep: told("keep", () => all.keep),
      release: told("release", () => undefined),
      heldBy: told("heldBy", () => undefined),
      leftovers: told("leftovers", () => ({ left: [], removed: [] })),
    },
    planner: agent,
    worker: agent,
    checkout: { look: told("checkout", () => looks.shift() ?? new Map()) },
    remember: told("remember", () => undefined),
    unkept: new Map(),
    subtasks: {
      templates: async () => new TemplateRegistry(),
      filesIn: () => ({ read: async () => broken("no file"), match: async () => [] }),
      artefacts: new MemoryArtefacts(),
    },
    surroundings: { of: async () => broken("not asked for") },
    specialists: async () => [],
    signs: {
      clock: new ManualClock(),
      changedAt: async () => 0,
      waitedMs: () => 0,
      tell: () => {},
    },
    outbox: {
      folder: "/scratchpad",
      prepare: told("prepare-output", () => ({ file: "/scratchpad/result.md" })),
      read: told("read-output", () => all.output),
    },
    criteria: { try: told("criterion", () => all.criterion) },
    redact: (text) => text.replaceAll("secret", "***"),
    maxTurnMs: { plan: 1_000, work: 1_000 },
  };
  return { parts, calls };
}
