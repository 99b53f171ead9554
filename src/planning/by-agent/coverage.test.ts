/** Tests which orders and limits of a request are reported as missing from an agent's plan. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { DATA } from "../../../test/plans/parts.ts";
import { RULES_PLAN } from "../../../test/support/rules-plan.ts";
import type { Coverage, ExecutionPlan } from "../plan.ts";
import { lexiconOf } from "../shapes/lexicon.ts";
import { leftOut } from "./coverage.ts";

/** Tasks a, b, c … with these descriptions. */
function planOf(
  descriptions: readonly string[],
  more: { readonly coverage?: readonly Coverage[]; readonly assumptions?: readonly string[] } = {},
): ExecutionPlan {
  const [first] = RULES_PLAN.tasks;
  const tasks = descriptions.map((description, at) => ({
    ...first!,
    ...{ id: String.fromCharCode(97 + at), subject: "Do a part", description },
  }));
  return { ...RULES_PLAN, tasks, ...more };
}

const missing = (request: string, plan: ExecutionPlan) => leftOut(request, plan, lexiconOf(DATA.words));

describe("what a plan leaves out of its request", () => {
  const request =
    "We lose orders.\n\nRetry the upload in `src/upload.ts` 3 times. Do not touch src/api.ts. Add a changelog entry.";
  const good = [
    "In src/upload.ts the upload gives up at once: try again, 3 times. Leave src/api.ts as it is.",
    "Write an entry for the changelog.",
  ];

  it("is nothing where other words say the same; stories need no cover", () => {
    assert.deepEqual(missing(request, planOf(good)), []);
    assert.deepEqual(missing(request, planOf([request])), [], "word for word");
  });

  it("is an order whose path, quoted words, numbers or names no task has", () => {
    const lost = ["Retry the upload in `src/upload.ts` 3 times."];
    assert.deepEqual(missing(request, planOf([good[0]!.replace("3 times", "often"), good[1]!])), lost);
    assert.deepEqual(missing(request, planOf([good[0]!.replaceAll("upload.ts", "send.ts"), good[1]!])), lost);
    const named = "Move the sessions to Redis.";
    assert.deepEqual(missing(named, planOf(["Move the sessions to a faster place."])), [named]);
    assert.deepEqual(missing(named, planOf(["The sessions live in Redis from now on: move them."])), []);
  });

  it("is a limit that no task keeps, even where its path is named for another reason", () => {
    const plan = planOf(["Retry the upload 3 times in src/upload.ts, as src/api.ts does.", good[1]!]);
    assert.deepEqual(missing(request, plan), ["Do not touch src/api.ts."]);
    const limit = "Add a search. No new dependencies, please.";
    assert.deepEqual(missing(limit, planOf(["Write the search with a dependency on lunr."])), [
      "No new dependencies, please.",
    ]);
    assert.deepEqual(missing(limit, planOf(["Write the search, without further dependencies."])), []);
    assert.deepEqual(
      missing(limit, planOf(["Write the search."], { assumptions: ["No dependencies are added."] })),
      [],
    );
  });

  it("is a part that a claim gives to a task about something else, or to none", () => {
    const wish = "Add paging. Translate all error messages into French and German.";
    const [, lost] = ["", "Translate all error messages into French and German."];
    const claimed = (description: string, where: Coverage["in"]) =>
      missing(wish, planOf(["Show pages: paging.", description], { coverage: [{ says: lost!, in: where }] }));
    assert.deepEqual(claimed("Bump the linter.", ["b"]), [lost]);
    assert.deepEqual(claimed("Put errors into other languages, French and German.", ["b"]), []);
    assert.deepEqual(claimed("Put errors into other languages.", ["zebra"]), [lost]);
  });

  it("takes a claim for half of a proof: fewer common words are enough", () => {
    const wish = "Show the customer what the order costs with the discount.";
    const vague = ["The page of an order displays its price: with discount."];
    assert.deepEqual(missing(wish, planOf(vague)), [wish]);
    assert.deepEqual(missing(wish, planOf(vague, { coverage: [{ says: wish, in: ["a"] }] })), []);
  });

  it("is an order in the form of a question, but no question", () => {
    const asked = "Add paging. Could you also translate the error messages into French?";
    assert.deepEqual(missing(asked, planOf(["Show pages: paging."])), [
      "Could you also translate the error messages into French?",
    ]);
    assert.deepEqual(missing("Add paging. Is French used at all?", planOf(["Show pages: paging."])), []);
  });

  it("is each item of a list, but none of a story, a form or what is ticked off", () => {
    const list = "Please:\n\n- add dark mode\n- keyboard shortcuts for the editor\n- [x] new logo";
    assert.deepEqual(missing(list, planOf(["Give the page a dark mode."])), [
      "keyboard shortcuts for the editor",
    ]);
    const form =
      "Fix the crash.\n\n### Steps to reproduce\n\n1. Create an order\n2. Delete it\n\nEnvironment:\n- Debian 12";
    assert.deepEqual(missing(form, planOf(["The crash is to be repaired: fix it."])), []);
  });

  it("is, of a request in another language, what names a path, a quote or a number that no task has", () => {
    const german =
      "Wir brauchen einen Export in src/export.ts mit Semikolon. Die Datei src/pdf.ts ist abgenommen und bleibt so. Es eilt sehr.";
    const task = "Write the export in src/export.ts, separated by semicolons.";
    assert.deepEqual(missing(german, planOf([task])), ["Die Datei src/pdf.ts ist abgenommen und bleibt so."]);
    assert.deepEqual(missing(german, planOf([task, "Leave src/pdf.ts as it is."])), []);
    const chinese = "给 `skim` 加一个 --quiet 选项。最多保留 50 行。谢谢大家，麻烦你们了。";
    assert.deepEqual(missing(chinese, planOf(["Give `skim` the option --quiet."])), ["最多保留 50 行。"]);
    assert.deepEqual(
      missing(chinese, planOf(["Give `skim` the option --quiet, with 50 lines at most."])),
      [],
    );
  });

  it("is found in time in proportion to both texts", () => {
    const long = Array.from({ length: 2_000 }, (_, n) => `- Fix number ${n} of \`thing${n}\``).join("\n");
    const plan = planOf(Array.from({ length: 300 }, (_, n) => `Fix ${n}. ${"word ".repeat(200)}`));
    const begun = performance.now();
    assert.equal(missing(long, plan).length, 300, "no more are looked for");
    assert.ok(performance.now() - begun < 3_000); // Measured: 0.2 s.
  });
});
