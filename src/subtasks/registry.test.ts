/** Tests which registered template fits a request. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { TemplateRegistry } from "./registry.ts";

const filled = () => {
  const registry = new TemplateRegistry();
  registry.register({
    name: "verify_code",
    type: "verification",
    description: "Verify that the code compiles and is tested",
    hints: ["testing"],
  });
  registry.register({
    name: "verify_docs",
    type: "verification",
    description: "Verify that the pages are true",
  });
  registry.register({ name: "summarise", type: "summary", description: "Summarise many files in a page" });
  return registry;
};

const best = (registry: TemplateRegistry, type: string, description: string, template_hints?: string[]) => {
  const match = registry.match({ type, description, template_hints });
  return match && `${match.template.name} ${match.score.toFixed(2)}`;
};

test("the score is 5 × type + 3 × hints + 2 × words, as published", () => {
  const registry = filled();
  // Both have the type; of the words "verify, code, compile" the first template shares three: 2 × 2·3/(3+4).
  assert.equal(best(registry, "verification", "Verify code compiling"), "verify_code 6.71");
  assert.equal(best(registry, "verification", "Verify the pages"), "verify_docs 6.60");
  assert.equal(best(registry, "other", "zzz", ["testing"]), "verify_code 3.00");
  assert.equal(best(registry, "other", "zzz", ["Testing", "unknown"]), "verify_code 1.50");
  assert.equal(best(registry, "other", "zzz", ["verify docs"]), "verify_docs 3.00");
  assert.equal(best(registry, "other", "Summarising many files in one page"), "summarise 1.78");
});

test("of equal scores the first registered wins, and below 1 nothing fits", () => {
  const registry = filled();
  assert.equal(best(registry, "verification", "zzz"), "verify_code 5.00");
  assert.equal(best(registry, "other", "code"), undefined);
  assert.equal(best(new TemplateRegistry(), "any", "thing"), undefined);
});

test("a template for any type takes what no other has", () => {
  const registry = filled();
  registry.register({ name: "general", type: "*", description: "Do anything" });
  assert.equal(best(registry, "never seen", "zzz"), "general 1.00");
  assert.equal(best(registry, "summary", "zzz"), "summarise 5.00");
});

test("a template of one subtype is not for another", () => {
  const registry = new TemplateRegistry();
  registry.register({ name: "a", type: "t", subtype: "fast", description: "A" });
  const wanted = { type: "t", description: "x" };
  assert.equal(registry.match({ ...wanted, subtype: "slow" }), undefined);
  assert.equal(registry.match({ ...wanted, subtype: "fast" })?.template.name, "a");
  assert.equal(registry.match(wanted)?.template.name, "a");
});

test("an answer is kept, and forgotten when another template comes", () => {
  const registry = filled();
  const wanted = { type: "summary", description: "Summarise the log" };
  const first = registry.match(wanted);
  assert.equal(registry.match({ ...wanted }), first); // The very same object.
  registry.register({ name: "summarise_log", type: "summary", description: "Summarise the log" });
  assert.equal(registry.match(wanted)?.template.name, "summarise_log");
});

test("what is wrong with a template is said when it is registered, and a name is taken once", () => {
  const registry = filled();
  for (const [template, why] of [
    [{ name: "x", description: "" }, /description/],
    [{ name: "x", description: "d", instruction: "typo" }, /Unrecognized key: "instruction"/],
    [
      { name: "x", description: "d", steps: [{ description: "s", max_dept: 1 }] },
      /step 1: Unrecognized key: "max_dept"/,
    ],
    [
      { name: "x", description: "d", steps: ["a"], each: "b", over: "c" },
      /steps and each belong to different groups/,
    ],
    [{ name: "x", description: "d", reduce: "b" }, /reduce needs each/],
    [{ name: "x", description: "d", return_expectations: '{"pattern":"("}' }, /JSON Schema cannot be used/],
    [{ name: "summarise", description: "d" }, /"summarise" is registered already/],
  ] as const) {
    const registered = registry.register(template as never);
    assert.ok("error" in registered, JSON.stringify(template));
    assert.match(registered.error.message, why);
  }
  const xml = registry.registerXml("<task/>");
  assert.ok(
    "error" in xml && xml.error.type === "TASK_FAILURE" && xml.error.reason === "xml_validation_failure",
  );
  assert.ok("template" in registry.registerXml("<task name='n'><description>d</description></task>"));
  assert.equal(registry.get("n")?.type, "atomic");
});

test("types and names that may have been meant are near, of the type and of the hints", () => {
  const registry = filled();
  assert.deepEqual(registry.near({ type: "verifcation" }), ["verification"]);
  assert.deepEqual(registry.near({ type: "zzz", template_hints: ["sumarise"] }), ["summarise"]);
  assert.deepEqual(registry.near({ type: "zzz" }), []);
});
