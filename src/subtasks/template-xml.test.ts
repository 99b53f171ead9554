/** Tests which XML templates are read, and how mistakes in them are refused. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { readTemplateXml } from "./template-xml.ts";

const problemIn = (text: string) => {
  const read = readTemplateXml(text);
  return "problem" in read ? read.problem : assert.fail(`read: ${JSON.stringify(read)}`);
};

test("every element is read", () => {
  const text = `<?xml version="1.0"?>
    <!-- a template -->
    <task name="verify" type="verification" subtype="check">
      <description>Verify &lt;code&gt; &amp; tests</description>
      <instructions><![CDATA[Run a < b]]></instructions>
      <hints><hint>testing</hint><hint>code_verification</hint></hints>
      <inputs><input name="code">The code</input><input name="style" required="false"/></inputs>
      <context_management>
        <inherit_context>subset</inherit_context><accumulate_data>true</accumulate_data>
        <accumulation_format>full_output</accumulation_format><fresh_context>disabled</fresh_context>
      </context_management>
      <file_paths><path>src/a.ts</path></file_paths>
      <max_depth>3</max_depth>
      <return_expectations>json</return_expectations>
      <handler>reviewer</handler>
      <budget><tasks>4</tasks><tokens>1000</tokens></budget>
    </task>`;
  assert.deepEqual(readTemplateXml(text), {
    template: {
      name: "verify",
      type: "verification",
      subtype: "check",
      description: "Verify <code> & tests",
      instructions: "Run a < b",
      hints: ["testing", "code_verification"],
      inputs: { code: { description: "The code", required: true }, style: { required: false } },
      context_management: {
        inherit_context: "subset",
        accumulate_data: "true",
        accumulation_format: "full_output",
        fresh_context: "disabled",
      },
      file_paths: ["src/a.ts"],
      max_depth: 3,
      return_expectations: "json",
      handler: "reviewer",
      budget: { tasks: 4, tokens: 1000 },
    },
  });
});

test("a task needs no more than a description", () => {
  assert.deepEqual(readTemplateXml("<task><description>Look around</description></task>"), {
    template: { name: "look-around", type: "atomic", description: "Look around" },
  });
});

test("groups are read, with tasks written out and by reference", () => {
  const read = readTemplateXml(`<task name="g"><description>G</description>
    <steps><task ref="one"/><task><description>Two</description></task></steps></task>`);
  assert.deepEqual("template" in read && read.template.steps, ["one", { description: "Two" }]);
  const map = readTemplateXml(`<task name="m"><description>M</description>
    <each over="files" max_parallel="2"><task ref="one"/></each><reduce><task ref="two"/></reduce></task>`);
  assert.ok("template" in map);
  const { each, over, max_parallel, reduce } = map.template;
  assert.deepEqual([each, over, max_parallel, reduce], ["one", "files", 2, "two"]);
  const loop =
    readTemplateXml(`<task name="l"><description>L</description><director><task ref="d"/></director>
    <script>npm test</script><evaluator><task ref="e"/></evaluator><max_iterations>0</max_iterations></task>`);
  assert.ok("template" in loop);
  assert.deepEqual(
    [loop.template.director, loop.template.script, loop.template.max_iterations],
    ["d", "npm test", 0],
  );
});

test("entities, document types, depth and size are refused", () => {
  assert.match(
    problemIn('<!DOCTYPE task [<!ENTITY x "y">]><task><description>&x;</description></task>'),
    /entity/i,
  );
  assert.match(
    problemIn('<!DOCTYPE task SYSTEM "file:///etc/passwd"><task><description>a</description></task>'),
    /document type/,
  );
  const bomb = `<!DOCTYPE task [<!ENTITY a "${"x".repeat(1000)}"><!ENTITY b "&a;&a;&a;">]><task><description>ok</description></task>`;
  assert.match(problemIn(bomb), /document type/);
  assert.match(problemIn(`<task>${"<a>".repeat(50_000)}${"</a>".repeat(5)}</task>`), /^XML: /);
  const nested = (level: number): string =>
    `<task><description>d</description>${level > 0 ? `<steps>${nested(level - 1)}</steps>` : ""}</task>`;
  assert.match(
    problemIn(`${"<task>".repeat(100_000)}`.slice(0, 250_000)),
    /nested too deep, at most 20 levels/,
  );
  assert.match(problemIn(nested(40)), /more than 20 levels/);
  assert.match(problemIn(nested(15)), /more than 10 deep/);
  assert.match(
    problemIn(`<task><description>${"x".repeat(300_000)}</description></task>`),
    /longer than 256000/,
  );
});

test("what is unknown, twice, misplaced or no XML is named with its place", () => {
  const inTask = (inner: string) => problemIn(`<task><description>d</description>${inner}</task>`);
  assert.equal(inTask("<descripton>x</descripton>"), "XML: task: <descripton> is not known here");
  assert.equal(inTask("<description>again</description>"), "XML: task: <description> appears twice");
  assert.equal(
    inTask('<inputs><input name="a">one</input><input name="a">two</input></inputs>'),
    'XML: task › inputs: <input name="a"> appears twice',
  );
  assert.equal(inTask("stray"), "XML: task: there is text between its elements");
  assert.equal(inTask("<max_depth>two</max_depth>"), 'XML: task › max_depth: "two" is not a whole number');
  assert.equal(
    inTask('<max_depth unit="levels">2</max_depth>'),
    "XML: task › max_depth: the attribute unit is not known here",
  );
  assert.equal(
    inTask("<hints><hit>x</hit></hints>"),
    "XML: task › hints: <hit> is not known here, only <hint>",
  );
  assert.match(inTask("<__proto__>x</__proto__>"), /<__proto__> is not known here/);
  assert.match(
    inTask("<context_management><inherit_context>all</inherit_context></context_management>"),
    /inherit_context/,
  );
  assert.match(inTask("<director><task ref='d'/></director>"), /director needs evaluator/);
  assert.match(inTask("<each><task ref='d'/></each>"), /each needs over/);
  assert.match(problemIn("<task><description>x</task>"), /^XML: /);
  assert.match(problemIn("<step/>"), /outermost element must be <task>/);
  assert.match(problemIn("<task/>"), /description/);
});

test("settings that break the rule are refused, also those of a task in a group", () => {
  const settings = (...pairs: readonly string[]) =>
    `<context_management>${pairs.map((pair) => `<${pair.split("=")[0]}>${pair.split("=")[1]}</${pair.split("=")[0]}>`).join("")}</context_management>`;
  const broken = `<task><description>d</description>${settings("inherit_context=full", "fresh_context=enabled")}</task>`;
  assert.match(problemIn(broken), /fresh_context "enabled" needs inherit_context "none"/);
  const inGroup = `<task><description>d</description>${settings("inherit_context=full")}<steps><task><description>s</description>${settings("fresh_context=enabled")}</task></steps></task>`;
  assert.match(problemIn(inGroup), /template › step 1: fresh_context "enabled" needs/);
});
