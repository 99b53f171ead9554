/** Tests the context that a subtask gets for each combination of settings. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { once, reasonOf, registryOf, spawning, teamOf, template } from "../../test/support/subtasks.ts";
import { failure } from "../core/failure.ts";
import type { ContextFiles, ContextSettings, HandledTaskResult } from "../ports/subtasks.ts";
import { executeTask } from "./execute.ts";
import { TemplateRegistry } from "./registry.ts";
import type { SubtaskRequest } from "./request.ts";
import { EXCLUSIVITY_RULE } from "./settings.ts";

const FILES: Readonly<Record<string, string>> = {
  "src/login.ts": "export const login = 1; // passwords",
  "src/other.ts": "export const other = 2;",
};

/** Matches any query about the login. */
const files: ContextFiles = {
  read: async (path) =>
    FILES[path] === undefined
      ? { failure: failure("repository", "there is no such file") }
      : { text: FILES[path] },
  match: async (query, limit) => (/login/.test(query) ? ["src/login.ts"].slice(0, limit) : []),
};

/** Runs a parent that has had one subtask, whose result is about the login only, and then spawns the child. */
async function spawnChild(
  request: Partial<SubtaskRequest>,
  more: { readonly files?: ContextFiles; readonly contextTokens?: number } = {},
) {
  const told: HandledTaskResult[] = [];
  const { handler, of } = teamOf({
    parent: ({ responses }) => {
      if (responses.length === 0)
        return spawning("scout", { context_management: { fresh_context: "disabled" } });
      if (responses.length === 1)
        return spawning("child", { description: "Mend the login", ...request }, "SPAWNING CALL");
      told.push(responses[1]!.result);
      return "done";
    },
    scout: () => ({ content: "the login is in src/login.ts", status: "COMPLETE", notes: { found: 1 } }),
    child: () => "mended",
  });
  const registry = registryOf(template("scout"), template("child"));
  const { files: at = files, contextTokens = 100_000 } = more;
  const parent = template("parent", { context_management: { fresh_context: "disabled" } });
  await executeTask(
    parent,
    { goal: "all about zebras" },
    { handler, registry, files: at, limits: { contextTokens } },
  );
  return { child: of("child")[0], result: told[0]!, parentTurns: of("parent") };
}

/** Each combination of settings, and the parts that the child then has. */
const ROWS: readonly [
  Partial<ContextSettings>,
  readonly ("parent" | "relevant" | "accumulated" | "fresh")[],
][] = [
  [{ inherit_context: "full", accumulate_data: false, fresh_context: "disabled" }, ["parent"]],
  [{ inherit_context: "full", accumulate_data: true, fresh_context: "disabled" }, ["parent", "accumulated"]],
  [{ inherit_context: "none", accumulate_data: false, fresh_context: "disabled" }, []],
  [{ inherit_context: "none", accumulate_data: false, fresh_context: "enabled" }, ["fresh"]],
  [{ inherit_context: "none", accumulate_data: true, fresh_context: "disabled" }, ["accumulated"]],
  [{ inherit_context: "none", accumulate_data: true, fresh_context: "enabled" }, ["accumulated", "fresh"]],
  [{ inherit_context: "subset", accumulate_data: false, fresh_context: "disabled" }, ["relevant"]],
  [
    { inherit_context: "subset", accumulate_data: true, fresh_context: "disabled" },
    ["relevant", "accumulated"],
  ],
];

const nameOf = (settings: Partial<ContextSettings>) => Object.values(settings).join(" + ");

for (const [settings, parts] of ROWS)
  test(`${nameOf(settings)}: ${parts.join(", ") || "inputs only, with a warning"}`, async () => {
    const { child, result } = await spawnChild({ context_management: settings });
    const { context } = child!;
    assert.deepEqual(context.settings, { accumulation_format: "notes_only", ...settings });
    const has = {
      parent: context.inherited.length > 0,
      relevant: context.text.includes(
        "--- result of subtask:scout ---\nCOMPLETE\nthe login is in src/login.ts",
      ),
      accumulated: context.text.includes('--- earlier task t.1 (scout) ---\n{"status":"COMPLETE","found":1}'),
      fresh: context.text.includes("--- file src/login.ts ---\nexport const login"),
    };
    assert.deepEqual(
      Object.entries(has).flatMap(([part, isThere]) => (isThere ? [part] : [])),
      ["parent", "relevant", "accumulated", "fresh"].filter((part) => parts.includes(part as "parent")),
    );
    assert.equal(
      context.text === "",
      parts.every((part) => part === "parent"),
    );
    assert.doesNotMatch(context.text, /zebras/); // Nothing unrelated of the parent.
    const { context: recorded, warnings } = result.notes;
    assert.deepEqual(recorded, {
      ...context.settings,
      ...(context.files.length > 0 && { files: context.files }),
    });
    assert.equal(parts.length === 0, /nothing but its inputs/.test(String(warnings)));
  });

for (const inherit_context of ["full", "subset"] as const)
  for (const accumulate_data of [false, true])
    test(`${inherit_context} + ${accumulate_data} + enabled is refused with the text of the rule`, async () => {
      const { child, result } = await spawnChild({
        context_management: { inherit_context, accumulate_data, fresh_context: "enabled" },
      });
      assert.equal(child, undefined);
      assert.equal(reasonOf(result), "input_validation_failure");
      assert.ok(result.notes.error?.message.startsWith(EXCLUSIVITY_RULE));
    });

test("full output is accumulated where the format says so", async () => {
  const { child } = await spawnChild({
    context_management: { accumulate_data: true, accumulation_format: "full_output" },
  });
  assert.match(
    child!.context.text,
    /earlier task t\.1 \(scout\) ---\nthe login is in src\/login\.ts\n\{"status"/,
  );
});

test("inherit full is what the parent had, byte for byte, up to the call that spawned, and stays so", async () => {
  const { child, parentTurns } = await spawnChild({ context_management: { inherit_context: "full" } });
  const { inherited } = child!.context;
  const spawning = parentTurns[1]!;
  const before = [
    ...spawning.transcript.filter(({ is }) => is !== "tool"),
    { is: "input", text: spawning.input },
  ];
  assert.deepEqual(
    inherited.filter(({ is }) => is !== "tool"),
    before,
  );
  assert.deepEqual(
    inherited.map(({ is }) => is),
    ["input", "answer", "tool", "input"],
  );
  assert.doesNotMatch(JSON.stringify(inherited), /SPAWNING CALL/);
});

test("a chain of full children has each the one above it as its prefix", async () => {
  const full = { context_management: { inherit_context: "full" as const } };
  const { handler, of } = teamOf({ a: once("b", full), b: once("c", full), c: () => "end" });
  await executeTask(template("a"), {}, { handler, registry: registryOf(template("b"), template("c")) });
  const [b, c] = [of("b")[0]!, of("c")[0]!].map(({ context }) => JSON.stringify(context.inherited));
  assert.ok(c!.startsWith(b!.slice(0, -1)));
  assert.equal(of("c")[0]!.context.inherited.length, of("b")[0]!.context.inherited.length + 1);
});

test("inherit full needs the parent's own handler", async () => {
  const { handler, of } = teamOf({
    parent: once("child", { context_management: { inherit_context: "full" } }),
  });
  const other = teamOf({ child: () => "never" });
  const registry = registryOf(template("child", { handler: "other" }));
  await executeTask(template("parent"), {}, { handler, registry, handlers: { other: other.handler } });
  const [response] = of("parent")[1]!.responses;
  assert.match(response!.result.notes.error!.message, /"full" needs the parent's handler/);
  assert.equal(other.record.length, 0);
});

test("files that are named are always there, win over matching, and a bad path warns and goes on", async () => {
  for (const context_management of [
    {},
    { inherit_context: "full" as const },
    { fresh_context: "disabled" as const },
  ]) {
    const { child, result } = await spawnChild({
      file_paths: ["src/other.ts", "src/gone.ts"],
      context_management,
    });
    assert.deepEqual(child!.context.files, ["src/other.ts"]);
    assert.match(child!.context.text, /--- file src\/other\.ts ---/);
    assert.doesNotMatch(child!.context.text, /src\/login\.ts/);
    assert.match(String(result.notes["warnings"]), /src\/gone\.ts: there is no such file/);
  }
});

test("files that are named are the subset under subset", async () => {
  const { child } = await spawnChild({
    file_paths: ["src/other.ts"],
    context_management: { inherit_context: "subset" },
  });
  assert.equal(child!.context.text, `--- file src/other.ts ---\n${FILES["src/other.ts"]}\n\n`);
});

test("a port that fails at matching, answers nonsense, or throws at reading fails the task with its own reason", async () => {
  for (const [at, reason] of [
    [
      { ...files, match: async () => ({ failure: failure("repository", "no index") }) },
      "context_matching_failure",
    ],
    [{ ...files, match: async () => "src/login.ts" as never }, "context_parsing_failure"],
    [{ ...files, read: async () => Promise.reject(new Error("gone")) }, "context_retrieval_failure"],
  ] as const) {
    const { child, result } = await spawnChild({}, { files: at });
    assert.equal(child, undefined);
    const { error } = result.notes;
    assert.equal(
      error?.details?.originalError?.type === "TASK_FAILURE" && error.details.originalError.reason,
      reason,
    );
  }
});

test("what does not fit is cut or left out, and both are said", async () => {
  const long: ContextFiles = {
    ...files,
    read: async (path) => ({ text: `${path} ${"word ".repeat(2_000)}` }),
  };
  const { child, result } = await spawnChild(
    { file_paths: ["a", "b", "c", "d", "e"] },
    { files: long, contextTokens: 1_000 },
  );
  assert.match(child!.context.text, /\[cut: about 250 of 2,501 tokens are shown\]/);
  assert.match(child!.context.text, /\[left out: file e, about \d+ tokens\]/);
  assert.ok((result.notes["context"] as { truncated: readonly string[] }).truncated.includes("file e"));
  assert.ok(child!.context.text.length < 1_000 * 4 + 400);
});

test("an inheritance that is larger than the limit is refused, not cut", async () => {
  const { result } = await spawnChild(
    { context_management: { inherit_context: "full" } },
    { contextTokens: 10 },
  );
  const { originalError } = result.notes.error!.details!;
  assert.ok(originalError?.type === "RESOURCE_EXHAUSTION" && originalError.resource === "context tokens");
});

test("settings of the template count where the request says nothing", async () => {
  const { handler, of } = teamOf({ parent: once("child"), child: () => "done" });
  const registry = registryOf(template("child", { context_management: { inherit_context: "subset" } }));
  await executeTask(template("parent"), {}, { handler, registry });
  assert.deepEqual(of("child")[0]!.context.settings.inherit_context, "subset");
});

test("a slash in front of a named file means the root of the workspace", async () => {
  const { child, result } = await spawnChild({ file_paths: ["/src/other.ts", "/../etc/passwd"] });
  assert.deepEqual(child!.context.files, ["src/other.ts"]);
  assert.match(String(result.notes.warnings), /^\.\.\/etc\/passwd: /);
});

test("the file of a task's own template is no context for it, those of others are", async () => {
  const names = [".skein/templates/child.xml", ".skein/templates/other.xml", ...Object.keys(FILES)];
  const seen: number[] = [];
  const at: ContextFiles = {
    read: async (path) => ({ text: path }),
    match: async (_, limit) => {
      seen.push(limit);
      return names.slice(0, limit);
    },
  };
  const { handler, of } = teamOf({ parent: once("child"), child: () => "done" });
  const registry = new TemplateRegistry();
  registry.register(template("child"), names[0]);
  await executeTask(template("parent"), {}, { handler, registry, files: at, limits: { matchedFiles: 2 } });
  assert.deepEqual(of("child")[0]!.context.files, names.slice(1, 3));
});
