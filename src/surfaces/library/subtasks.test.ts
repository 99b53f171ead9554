/** Tests that the subtasks library exports all types that its users need, without casts. */
import assert from "node:assert/strict";
import { it } from "node:test";
import * as library from "./subtasks.ts";

/** Each member names a type in a signature of the library: the compiler checks that they are exported. */
type Signatures = {
  readonly keep: (text: string) => Promise<{ readonly name: string } | library.Failed>;
  readonly why: library.Failure;
  readonly canonical: (value: unknown, maxChars?: number) => library.CanonicalText;
  readonly signature: (identity: library.SubtaskIdentity) => string;
  readonly check: (content: string, expectation: library.Expectation) => library.CheckedResult;
  readonly ask: (question: library.Question, signal: AbortSignal) => library.QuestionAnswer;
  readonly handler: library.TaskHandler<library.FunctionSession>;
  readonly request: (value: unknown) => library.ReadRequest;
  readonly settings: (layers: readonly library.ContextManagement[]) => library.SettledContext;
  readonly template: (value: unknown) => library.ReadTemplate;
  readonly match: (wish: library.TemplateWish) => library.TemplateMatch | undefined;
  readonly get: (name: string) => library.NamedTemplate | undefined;
  readonly clock: Pick<library.Clock, "now" | "wakeAt">;
};

it("has types for all that its signatures name", () => {
  const registry = new library.TemplateRegistry();
  const some: Pick<Signatures, "keep" | "canonical" | "signature" | "check" | "request" | "match" | "get"> = {
    keep: (text) => new library.MemoryArtefacts().keep(text),
    canonical: library.canonicalJson,
    signature: library.signatureOf,
    check: library.checkExpectation,
    request: library.readRequest,
    match: (wish) => registry.match(wish),
    get: (name) => registry.get(name),
  };
  assert.equal(some.get("none"), undefined);
});

it("has types for what the engine notes: no cast is needed to read a result", async () => {
  const handler = library.functionHandler(({ task }) =>
    task.template === "judge"
      ? { status: "COMPLETE", content: "good", notes: { success: true } }
      : "x".repeat(4_000),
  );
  const loop = {
    description: "Write it",
    director: { name: "make", description: "Make it" },
    evaluator: { name: "judge", description: "Judge it" },
    file_paths: ["a.txt"],
  };
  const { notes } = await library.executeTask(loop, {}, { handler });
  const long = await library.executeTask(loop, {}, { handler, limits: { resultTokens: 100 } });
  const id: string | undefined = notes.task_id;
  const inherits: "full" | "none" | "subset" | undefined = notes.context?.inherit_context;
  const round: library.Iteration | undefined = notes.history?.[0];
  const warnings: readonly string[] = notes.warnings ?? [];
  const artefact: string | undefined = long.notes.artefact;
  assert.deepEqual([id, inherits, round?.success, warnings], ["t", "none", true, []]);
  assert.match(artefact ?? "", /^artefact-[0-9a-f]{16}$/);
});
