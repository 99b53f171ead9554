/** Tests that a report is harmless in every form whatever its texts contain, and that it fits its page. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { CoreRun, task } from "../../../../test/support/core-run.ts";
import { HOSTILE, hostileRun, sectionsOf } from "../../../../test/support/hostile-report.ts";
import type { TaskId } from "../../../core/task.ts";
import { asJson } from "../../../text/words.ts";
import { width } from "../columns.ts";
import { linesOf, type ReportSection } from "./sections.ts";
import { htmlOf } from "./sections-html.ts";
import { markdownOf } from "./sections-markdown.ts";

const columnsOf = (sections: readonly ReportSection[]) =>
  linesOf(sections, 79)
    .flatMap(({ text }) => text.split("\n"))
    .map(width);

describe("a report with hostile texts", () => {
  for (const text of HOSTILE) {
    const { view, report, sections } = sectionsOf(hostileRun(text));
    const name = JSON.stringify(text.slice(0, 24));

    it(`moves no cursor and fits 80 columns: ${name}`, () => {
      const lines = linesOf(sections, 79);
      assert.ok(lines.some((line) => line.text.includes("conflict")));
      for (const line of lines) assert.doesNotMatch(line.text.replaceAll("\n", ""), /[\p{C}\p{Zl}\p{Zp}]/u);
      for (const columns of columnsOf(sections)) assert.ok(columns <= 79, `${columns} columns`);
    });

    it(`is HTML without a script, a link or a request: ${name}`, () => {
      const html = htmlOf(sections, text);
      const tags = [...html.matchAll(/<\/?([a-z0-9]+)/g)].map(([, tag]) => tag);
      const known = "html head meta title style body main header section h1 h2 p ul li div table thead tbody";
      const all = new Set(`${known} tr td th svg g rect text`.split(" "));
      assert.deepEqual(
        [...new Set(tags)].filter((tag) => !all.has(tag!)),
        [],
      );
      assert.doesNotMatch(html, /<[^>]*\s(?:on\w+|src|href)=/);
      assert.doesNotMatch(html.replaceAll("\n", ""), /[\p{C}\p{Zl}\p{Zp}]/u);
      assert.ok(html.length < 200_000, `${html.length} characters`);
    });

    it(`is markdown whose every line is ours: ${name}`, () => {
      const markdown = markdownOf(sections, text);
      assert.doesNotMatch(markdown, /(?<!\\)[[\]`]|(?<!\\)!\[|<(?!\/?$)/);
      assert.equal(markdown.match(/^# /gm)?.length, 1);
      assert.doesNotMatch(markdown.replaceAll("\n", ""), /[\p{C}\p{Zl}\p{Zp}]/u);
      const rows = markdown.split("\n").filter((line) => line.startsWith("| n "));
      for (const row of rows)
        assert.equal(row.match(/(?<!\\)\|/g)?.length, rows[0]!.match(/(?<!\\)\|/g)?.length);
    });

    it(`is JSON that is one line to every reader, and the same value: ${name}`, () => {
      const json = asJson({ ...view, report });
      assert.doesNotMatch(json, /[\p{Cc}\u2028-\u202e\u2066-\u2069]/u);
      assert.deepEqual(JSON.parse(json), JSON.parse(JSON.stringify({ ...view, report })));
    });
  }
});

describe("a report on a page", () => {
  it("breaks a table within its widest column, and loses no word", () => {
    const names = Array.from({ length: 20 }, (_, i) => `task-${i}`).join(" + ");
    const sections: readonly ReportSection[] = [
      { title: "Landed", tone: "strong", items: [{ is: "rows", rows: [["abc", names, "gate passed"]] }] },
    ];
    const text = linesOf(sections, 79)
      .map((line) => line.text)
      .join("\n");
    for (let i = 0; i < 20; i += 1) assert.match(text, new RegExp(`task-${i}\\b`));
    for (const columns of columnsOf(sections)) assert.ok(columns <= 79);
    assert.match(text, /^ {2}abc {2}task-0 .* gate passed$/m);
  });

  it("says why something was given up, and whose reason that is", () => {
    const run = CoreRun.planned([task("a"), task("b")]);
    run.failForGood("t.1");
    run.finish("t.2");
    const [concern] = run.state.planners.get("t" as TaskId)!.concerns.values();
    run.plan("t", [], { addressed: [{ concern: concern!.id, because: "not worth it" }] });
    for (let n = 0; n < 5 && !run.closed; n += 1) {
      if (run.isAsked("t")) run.plan("t", []);
      else run.check();
    }
    assert.equal(run.closed?.how, "incomplete");
    const text = linesOf(sectionsOf(run).sections)
      .map((line) => line.text)
      .join("\n");
    assert.match(text, /^Given up \(1\)\n {2}a: agent-failed.*\n {4}reason of the planner: not worth it$/m);
    assert.equal(text.split("not worth it").length, 2, "it is told once");
  });
});
