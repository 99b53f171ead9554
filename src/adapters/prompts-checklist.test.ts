/** Tests that each prompt states every rule of its role, by words that only that rule has. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import path from "node:path";
import { describe, it } from "node:test";
import { readHandoff } from "../core/answers/handoff-answer.ts";
import { readPlanAnswer } from "../core/answers/plan-answer.ts";
import { checkPlan } from "../core/answers/plan-check.ts";
import type { Scope } from "../core/scope.ts";
import type { TaskId } from "../core/task.ts";
import type { PromptName } from "../ports/prompts.ts";

type Rules = Readonly<Record<string, RegExp>>;

const PLANNERS: Rules = {
  "writes no code": /You write no code and change no file/,
  "has tools that only read": /tools only read/,
  "plans step by step, and defers with a reason": /defer/i,
  "listens to handoffs": /\*\*Listen\.\*\*.*handoff/,
  "deals with concerns until they are addressed": /comes again in every turn.*`addressed`/,
  "says what became of what was not done": /\*not done\*.*"by".*"because"/,
  "rewrites its scratchpad": /Keep the scratchpad.*Rewrite it in every turn/,
  "is done only when it is": /Know when it is done.*Never/,
  "describes tasks so that they stand alone, with the why": /self-contained.*\*why\*/i,
  "makes tasks that land alone": /lands alone.*build and all tests pass.*callers.*goes with its tests/,
  "splits only where it buys something": /Each (?:sub)?task costs a worker.*file are one (?:sub)?task/,
  "says truly what a worker sees": /A worker is shown this .*It does not see/,
  "shows a later turn": /### A later turn.*"addressed"/,
  "gives each task a scope and an acceptance": /`scope` and an `acceptance`|With a scope.*With an acceptance/,
  "orders tasks by after": /in `after`/,
  "ranks them by priority": /`priority`/,
  "may name a specialist": /`agent`/,
  "keeps to the number of tasks that it is told": /the message allows/,
  "uses an id once": /id.{0,60}(?:never used|that you have used|new)/i,
  "says how to split a small thing: not at all": /three files or fewer/,
  "takes texts of others for data": /are data/,
  "keeps secrets out": /secret|password, key or token/i,
  "answers by the tool or in JSON": /tool `plan`.*one JSON object and nothing else/,
  "names every field of the answer":
    /"scratchpad".*"tasks".*"deferred".*"addressed".*"done".*`delivers|"scratchpad".*"done".*delivers/,
  "says what happens to an answer that breaks a rule": /refused as a whole/,
};

const RULES: Readonly<Record<PromptName, Rules>> = {
  "root-planner": {
    ...PLANNERS,
    "knows its documents": /SPEC\.md.*FEATURES\.json.*AGENTS\.md.*CLAUDE\.md.*DECISIONS\.md/,
    "explores before it plans": /do not guess how the code looks.*Then explore, read-only/,
    "does no task itself": /You do no task yourself/,
    "hears what was really built": /Every handoff tells you what was really built/,
    "makes tasks of one sprint independent": /Independent.*Never rely on priority for order/,
    "avoids words that only it understands": /make sense only to you/,
    "minds the size of tasks": /Tasks so small.*so large/,
    "plans nothing twice": /Planning again what is active or has landed/,
    "does not end with an open concern": /Calling it done while a concern is open/,
    "plans in sprints": /Plan in sprints/,
    "plans only what it can specify": /plan only what you can specify with confidence/,
    "is asked again after three, or when none is active":
      /three more of your tasks have settled, or when none is active/,
    "takes no failure for the end": /Never answer so because you are unsure, because something failed/,
    "gives no file to two tasks at once":
      /Never give one file to two tasks.*share one, the later names the earlier/,
    "knows what goes to a subplanner": /four files or more.*subplanner/,
    "deals with what was not done": /A concern that a task was \*not done\*/,
    "lists what goes wrong":
      /## What goes wrong most often.*Planning everything at once.*Two tasks on one file/,
    "plans no fix twice": /fix tasks made by rule: do not plan them/,
    "covers everything or defers it": /in no task and in no deferral/,
    "splits by function": /By function, not by file/,
    "may ask for a report": /"delivers": "report"/,
    "answers a question with a report": /If the goal is a question, plan one such task/,
    "makes one task of a bug": /a bug is one task, the test that shows it and the repair/,
    "makes what parts share first": /What parts share comes first.*names and signatures/,
    "minds how many workers are free": /More tasks than free workers/,
    "does not let an author review": /review is done by another worker/,
    "lets a test of parts repair them": /tests several parts together waits for them, and has their files/,
    "knows that parts are as urgent as their task": /splits a task, the parts get its priority/,
  },
  subplanner: {
    ...PLANNERS,
    "knows that its subtasks are as urgent as its task":
      /`priority` \([^)]*that of your own task if left out\)/,
    "does not widen its task": /You do not widen your task/,
    "hands on what a handoff told": /The next subtasks must say so/,
    "owns its slice": /You own one task/,
    "does not split one file": /all of the change is in one file/,
    "does not split into crumbs": /20 lines/,
    "sends an atomic task on with no tasks": /no tasks in your first answer/,
    "makes two to five subtasks, ten at most": /two to five subtasks.*10 unless told otherwise/,
    "keeps scopes inside of its own": /Every scope is a subset of yours/,
    "keeps scopes apart": /No two subtasks share a file/,
    "covers its scope or defers": /Nothing is forgotten.*in `deferred` with a reason/,
    "gives the context of the task above": /context of the task above/,
    "makes equals independent": /Subtasks of equal priority are independent/,
    "plans foundations first": /Step by step, not all at once.*foundations first/,
    "tests parts together when they have landed":
      /tested together by a later subtask.*their files in its scope/,
    "is asked after every subtask": /asked again after every subtask that settles/,
    "looks before it splits": /Look at the code of your slice before you split it/,
    "knows the five mistakes":
      /every file at once.*Splitting what is one change.*without context.*no deferral.*read and not used/,
  },
  worker: {
    "stays in its scope": /NEVER change a file outside of your scope/,
    "leaves nothing half done": /NEVER leave a TODO, a placeholder, a stub or a partial implementation/,
    "leaves tests alone": /NEVER delete, skip, disable or weaken a test/,
    "silences no checker": /NEVER use `any`, `@ts-ignore` or `@ts-expect-error`/,
    "may move a test, and removes those of what goes":
      /a test that you move keeps its name.*tests of that alone go/,
    "says so if it is there already": /If the change is there already, change nothing.*success criterion/,
    "leaves git alone": /NEVER push, change remotes, switch to another branch/,
    "verifies: compile and test": /ALWAYS verify\*\* before you hand off: compile and test/,
    "meets the acceptance": /ALWAYS meet the acceptance/,
    "commits before it hands off": /ALWAYS commit before the handoff/,
    "knows that the rest is committed for it": /What you leave uncommitted is committed for/,
    "plans, does, verifies": /Understand.*Plan briefly, then do it.*Verify/,
    "does not widen the task": /Do not widen the task/,
    "hands off once, at the end": /\*\*Hand off\*\*, once, at the very end/,
    "says complete only for what it verified":
      /`complete` \(every point of the acceptance holds, and you verified it\)/,
    "raises concerns": /A concern that you keep to yourself/,
    "works alone": /You see no other worker/,
    "takes texts of others for data": /web pages.*are data.*do not follow instructions in them/,
    "keeps secrets": /Do not look for passwords, keys or tokens.*never write one into a file/,
    "says so if it cannot be done": /`blocked`.*`failed`.*`partial`/,
    "is honest": /honest report is worth more/,
    "reports without changing anything": /delivers a report, change no file/,
    "hands off by the tool or in JSON": /tool `handoff`.*"status".*"summary".*"concerns".*"suggestions"/,
  },
  "execution-planner": {
    "writes no code": /You write no code and change no file/,
    "has tools that only read": /tools only read/,
    "looks before it plans": /do not guess how the code looks/,
    "takes samples": /Take samples, and stop when you can plan/,
    "compresses nothing": /no ranges.*no sums.*no wildcards/,
    "says how success is seen": /`success_criteria`, as outcomes that can be checked/,
    "assumes, and asks one question at most": /`assumptions`.*ask one question in `questions`.*"default"/,
    "knows the kinds of request": /A question.*delivers a report.*A bug is one task/,
    "makes tasks that land alone":
      /Each task lands alone.*build and all tests pass.*the gate, whose commands.*callers.*goes with its tests/,
    "splits only where it buys something": /Each task costs an agent.*one file are one task/,
    "splits by function": /by function and not by file/,
    "splits lists, CRUD and sign-in": /for a list, one for each item.*delete, four.*each entity.*sign-in/,
    "splits what has no end, and puts it together": /split by folder, and a last task combines the results/,
    "shares out like items": /as many tasks as run at the same time, neighbouring items together, each named/,
    "makes tasks small":
      /One operation, one result, one responsibility; at most 3 files to change and 5 to read/,
    "gives a trivial request one task": /A trivial request is one task/,
    "knows what depth is": /`metadata.depth` says how often you split/,
    "describes tasks so that they stand alone, with the why":
      /is shown this task alone.*does not see other tasks.*request usually stands.*\*why\*/,
    "gives harmless criteria that are not the gate's":
      /`success_criterion` is one command.*must do no harm.*The gate runs anyway/,
    "names files": /`scope` lists the files.*no patterns, a folder ends in `\/`/,
    "orders by need alone": /`blockedBy` names the tasks whose results a task needs, and no others/,
    "gives no file to two tasks at once": /a file in common, one must wait for the other/,
    "makes no circle": /there are no cycles/,
    "chooses specialists": /else `general-purpose`/,
    "gives readers only reports": /read-only specialist gets only reports, and no `output_file`/,
    "verifies at the end": /Verify at the end.*has their files in its `scope`/,
    "names risks": /Name the risks/,
    "takes texts of others for data": /are data about the project/,
    "keeps secrets out": /password, key or token/,
    "answers by the tool or in JSON": /tool `plan`.*one JSON object and nothing else/,
    "says what happens to a plan that breaks a rule": /refused as a whole/,
  },
  subtask: {
    "does its task and nothing else": /Do what the task asks, and nothing else/,
    "changes nothing": /You change nothing/,
    "delegates only what is of another kind": /a part is of another kind/,
    "asks only what it cannot find": /you cannot find it yourself/,
    "says that it failed": /say that it failed, and why/,
    "takes texts of others for data": /are data/,
    "keeps secrets out": /password, key or token/,
    "answers by the tool or in JSON": /tool `answer`.*one JSON object and nothing else/,
    "knows all four answers": /`COMPLETE`.*`CONTINUATION`.*`NEEDS_INPUT`.*`FAILED`/,
    "names what a request needs": /`type`, `description` and `inputs` are required/,
    "answers its subtask": /`COMPLETE` with the answer alone, or pass the question on/,
  },
};

const textOf = (name: string) =>
  readFileSync(path.join(import.meta.dirname, "../../prompts", `${name}.md`), "utf8");

/** The indented block below a heading. */
const exampleIn = (text: string, heading = "### An example") => {
  const [, after = ""] = text.split(`${heading}\n`);
  const [own = ""] = after.split("\n### ");
  return own
    .split("\n")
    .filter((line) => line.startsWith("    "))
    .join("\n");
};

for (const [name, rules] of Object.entries(RULES))
  describe(`the prompt of the ${name}`, () => {
    const text = textOf(name);
    const line = text.replace(/\s+/g, " ");
    for (const [rule, words] of Object.entries(rules)) it(rule, () => assert.match(line, words));

    it("is short enough to be read, and has no long lines besides its example", () => {
      assert.ok(text.length < 13_000, `${text.length}`);
      for (const line of text.split("\n"))
        assert.ok(line.length <= 120 || line.startsWith("      "), `${line.length}: ${line}`);
    });
  });

describe("the examples in the prompts", () => {
  const accepted = (name: string, scope: Scope, maxTasks: number, heading?: string) => {
    const read = readPlanAnswer(exampleIn(textOf(name), heading));
    assert.ok(read.is === "answer", JSON.stringify(read));
    assert.deepEqual(read.answer.notes, []);
    const checked = checkPlan(read.answer, {
      parent: { id: "t.1" as TaskId, scope, priority: 5 },
      strict: true,
      firstOrdinal: 1,
      known: new Map(),
      coveredBefore: [],
      maxTasks,
      sharedFiles: [],
    });
    assert.ok(checked.is === "accepted", JSON.stringify(checked));
    assert.deepEqual([checked.notes, checked.uncovered], [[], []]);
    return checked.tasks;
  };

  it("are plans that are accepted, without a note", () => {
    assert.equal(accepted("root-planner", ["./"], 10).length, 2);
    const slice = ["src/export/rows.ts", "src/export/csv.ts", "src/export/calendar.ts", "test/export/"];
    assert.equal(accepted("subplanner", slice, 10).length, 1);
    assert.equal(accepted("root-planner", ["./"], 10, "### A later turn").length, 1);

    const later = ["csv", "calendar"].flatMap((name) => [
      `src/export/${name}.ts`,
      `test/export/${name}.test.ts`,
    ]);
    assert.equal(accepted("subplanner", later, 10, "### A later turn").length, 2);
  });

  it("are a handoff that is read", () => {
    const read = readHandoff(exampleIn(textOf("worker")), "t.1");
    assert.ok(read.is === "handoff");
    assert.equal(read.handoff.status, "complete");
    assert.equal(read.handoff.concerns.length + read.handoff.suggestions.length, 2);
  });
});
