/** The two functions by which a program uses the engine; their dependencies are loaded when they are first called. */
import type { Handoff } from "../../core/handoff.ts";
import type { DecomposeOptions, Orchestrator, OrchestratorOptions, ParentTask } from "./types.ts";

/**
 * The whole of Skein in a program: a real repository, workspaces, gate, merge queue and log. Nothing is read or made
 * before the first call.
 *
 * ```ts
 * await using skein = createOrchestrator({
 *   repository: ".",
 *   config: { gate: ["npm test"], workers: 4 },
 *   planner: async (brief) => ({ tasks: brief.first ? await myPlan(brief) : [] }),
 *   worker: async (brief, { folder, signal }) => myAgent(brief, folder, signal),
 * });
 * const run = await skein.run({ goal: "Add a --json flag to every command" });
 * if (hasFailed(run)) throw new Error(run.failure.message);
 * for await (const event of run.events) console.log(event.type);
 * console.log(await run.ended, run.view().landings);
 * ```
 */
export function createOrchestrator(options: OrchestratorOptions): Orchestrator {
  const load = async () => (await import("./orchestrator.ts")).openOrchestrator(options);
  let opened: ReturnType<typeof load> | undefined;
  const open = () => {
    opened ??= load();
    return opened;
  };
  return {
    run: async (wanted) => (await open()).run(wanted),
    resume: async (run, more) => (await open()).resume(run, more),
    runs: async () => (await open()).runs(),
    view: async (run) => (await open()).view(run),
    [Symbol.asyncDispose]: async () => (await open())[Symbol.asyncDispose](), // Also without a first call, to close it.
  };
}

/**
 * A subplanner on its own: the same engine, with no repository and no landing. `plan` splits the task, subtasks with
 * four files or more are split again, down to three planners below one another; the rest goes to `work`. The planner
 * is asked again after each subtask. What fails is tried again, and in the end there is one handoff for the whole. It
 * never throws; if a function throws, its task has failed, and the handoff says why.
 *
 * ```ts
 * const handoff = await decomposeAndExecute(
 *   { id: "docs", description: "Translate the guide", scope: ["guide/a.md", "guide/b.md"] },
 *   {
 *     plan: ({ first, spec }) => ({
 *       tasks: first
 *         ? spec.scope.map((file, i) => ({
 *             id: `part-${i}`, description: `Translate ${file}`, acceptance: "no English is left", scope: [file],
 *           }))
 *         : [],
 *     }),
 *     work: async ({ spec }, { signal }) => {
 *       await translate(spec.scope, signal);
 *       return { status: "complete", summary: "translated", filesChanged: spec.scope };
 *     },
 *   },
 * );
 * handoff.status; // "complete"
 * ```
 */
export async function decomposeAndExecute(parent: ParentTask, options: DecomposeOptions): Promise<Handoff> {
  const { decompose } = await import("./decompose.ts");
  return decompose(parent, options);
}
