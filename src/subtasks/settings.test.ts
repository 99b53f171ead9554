/** Tests the context settings that follow from a request, its template and its group. */
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import {
  type ContextManagement,
  DEFAULT_SETTINGS,
  EXCLUSIVITY_RULE,
  mergeLayers,
  settingsOf,
} from "./settings.ts";

test("a subtask that says nothing inherits and accumulates nothing, and gets fresh context", () => {
  assert.deepEqual(settingsOf([]), { settings: DEFAULT_SETTINGS, warnings: [] });
  assert.deepEqual(DEFAULT_SETTINGS, {
    inherit_context: "none",
    accumulate_data: false,
    accumulation_format: "notes_only",
    fresh_context: "enabled",
  });
});

test("an unspecified partner is derived", () => {
  for (const [said, inherit, fresh] of [
    [{ inherit_context: "full" }, "full", "disabled"],
    [{ inherit_context: "subset" }, "subset", "disabled"],
    [{ inherit_context: "none" }, "none", "enabled"],
    [{ fresh_context: "enabled" }, "none", "enabled"],
    [{ fresh_context: "disabled", accumulate_data: true }, "none", "disabled"],
  ] as const) {
    const settled = settingsOf([said]);
    assert.ok("settings" in settled);
    assert.deepEqual([settled.settings.inherit_context, settled.settings.fresh_context], [inherit, fresh]);
    assert.deepEqual(settled.warnings, []);
  }
});

test("nothing at all is valid, with a warning", () => {
  const settled = settingsOf([{ fresh_context: "disabled" }]);
  assert.ok("settings" in settled && /nothing but its inputs/.test(settled.warnings.join()));
});

test("the nearest layer wins, field by field, and XML's words are read", () => {
  const settled = settingsOf([
    { accumulation_format: "full_output" },
    { accumulate_data: "true", accumulation_format: "notes_only" },
    { accumulate_data: false, inherit_context: "subset" },
  ]);
  assert.ok("settings" in settled);
  assert.deepEqual(settled.settings, {
    inherit_context: "subset",
    accumulate_data: true,
    accumulation_format: "full_output",
    fresh_context: "disabled",
  });
});

test("two explicit values that break the rule are refused with its text, also from two layers", () => {
  const broken: ContextManagement[][] = [
    [{ inherit_context: "full", fresh_context: "enabled" }],
    [{ inherit_context: "subset", fresh_context: "enabled" }],
    [{ inherit_context: "full" }, { fresh_context: "enabled" }],
    [{ fresh_context: "enabled" }, { inherit_context: "subset" }],
  ];
  for (const layers of broken) {
    const settled = settingsOf(layers);
    assert.ok("problem" in settled && settled.problem.startsWith(EXCLUSIVITY_RULE));
  }
});

const layer = fc.record(
  {
    inherit_context: fc.constantFrom("full", "none", "subset"),
    accumulate_data: fc.constantFrom(true, false, "true", "false"),
    accumulation_format: fc.constantFrom("notes_only", "full_output"),
    fresh_context: fc.constantFrom("enabled", "disabled"),
  },
  { requiredKeys: [] },
) as fc.Arbitrary<ContextManagement>;

test("whatever the layers say, the settings keep the rule, keep what was said, and do not change when said again", () => {
  fc.assert(
    fc.property(fc.array(layer, { maxLength: 3 }), (layers) => {
      const settled = settingsOf(layers);
      const said = mergeLayers(layers);
      const isBroken = said.fresh_context === "enabled" && (said.inherit_context ?? "none") !== "none";
      assert.equal("problem" in settled, isBroken);
      if ("problem" in settled) return;
      const { settings } = settled;
      assert.ok(settings.fresh_context === "disabled" || settings.inherit_context === "none");
      for (const [key, value] of Object.entries(said))
        if (value !== undefined) assert.equal(String(settings[key as keyof typeof settings]), String(value));
      assert.deepEqual(settingsOf([settings]), settled);
    }),
  );
});
