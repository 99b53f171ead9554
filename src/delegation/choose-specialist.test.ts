/** Tests which role is chosen for a task, and how the choice is explained to people. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Specialist } from "../core/specialist.ts";
import type { TaskSpec } from "../core/task.ts";
import { chooseSpecialist } from "./choose-specialist.ts";
import { DelegationEngine } from "./delegation-engine.ts";
import { withBuiltIn } from "./specialist-table.ts";

const own = (name: string, more: Partial<Specialist> = {}): Specialist => ({
  name,
  description: "",
  prompt: "",
  isReadOnly: false,
  keywords: [],
  source: `.skein/agents/${name}.md`,
  ...more,
});

const choose = (
  description: string,
  spec: Partial<Pick<TaskSpec, "agent" | "delivers" | "repairs">> = {},
  specialists = withBuiltIn([]),
) => {
  const { specialist, why } = chooseSpecialist({ description, delivers: "change", ...spec }, specialists);
  return [specialist?.name, why] as const;
};

describe("a specialist that the planner named", () => {
  it("is taken, also with a prefix and in other letters", () => {
    for (const agent of ["code-reviewer", "workflow-orchestrator:code-reviewer", "Code-Reviewer"])
      assert.deepEqual(choose("Build a bridge", { agent }), ["code-reviewer", "the planner named it"]);
  });

  it("is nobody if it is general-purpose or main, whatever the task speaks of", () => {
    for (const agent of ["general-purpose", "main", "workflow-orchestrator:general-purpose"]) {
      const [name, why] = choose("Deploy the docker pipeline", { agent });
      assert.equal(name, undefined);
      assert.match(why, /which is no special role/);
    }
  });

  it("is chosen by rule if the name is not known, and it is said", () => {
    assert.deepEqual(choose("Deploy it with docker", { agent: "wizard" }), [
      "devops-experience-architect",
      'the planner named "wizard", which is not known; the task speaks of deploy, docker',
    ]);
    assert.match(
      choose("Build", { agent: "wizard" })[1],
      /"wizard", which is not known; no specialist has two/,
    );
  });

  it("is not taken for a change if it can only read", () => {
    const [name, why] = choose("Add a button", { agent: "codebase-context-analyzer" });
    assert.equal(name, undefined);
    assert.match(why, /changes nothing, and this task is a change/);
    assert.equal(
      choose("How is it built?", { agent: "codebase-context-analyzer", delivers: "report" })[0],
      "codebase-context-analyzer",
    );
  });
});

describe("a specialist that nobody named", () => {
  const EXPECTED: readonly (readonly [string, string | undefined])[] = [
    ["Refactor the parser to pay back technical debt", "code-cleanup-optimizer"],
    ["Set up a Docker image and deploy it", "devops-experience-architect"],
    ["Write the CI/CD pipeline", "devops-experience-architect"],
    ["Verify the importer and check its edge cases", "task-completion-verifier"],
    ["Upgrade one dependency and install it", "dependency-manager"],
    ["Explain the README", "documentation-expert"],
    ["Critique it: a code review with feedback", "code-reviewer"],
    ["Design the cache after best practice", "tech-lead-architect"],
    ["Review it and test it, give feedback", "task-completion-verifier"],
    ["Test the parser", undefined],
    ["Rename the contest page and add a prefix", undefined],
    ["Move src/deploy/docker.ts", undefined],
    ["", undefined],
  ];
  for (const [description, name] of EXPECTED)
    it(`is ${name ?? "nobody"} for "${description}"`, () => assert.equal(choose(description)[0], name));

  it("has at least two keywords in the task, and it is said which", () => {
    assert.match(
      choose("Refactor the parser to pay back technical debt")[1],
      /speaks of refactor, technical debt$/,
    );
    assert.match(choose("Test the parser")[1], /no specialist has two/);
  });

  it("is the one with the most, and of equals the first of the list", () => {
    const a = own("a", { keywords: ["apple", "pear", "plum"] });
    const b = own("b", { keywords: ["apple", "pear", "plum", "fig"] });
    assert.equal(choose("Peel apples, pears, plums and a fig", {}, [a, b])[0], "b");
    assert.equal(choose("Peel apples and pears", {}, [a, b])[0], "a");
    assert.equal(choose("Peel apples and pears", {}, [b, a])[0], "b");
  });

  it("counts a keyword once, however often it is said", () => {
    assert.equal(choose("Deploy, deploy and deploy")[0], undefined);
    assert.equal(choose("Deploy it", {}, [own("x", { keywords: ["deploy", "deploy"] })])[0], undefined);
  });

  it("is never a reading one for a change, and Explore not for a task that writes", () => {
    assert.equal(choose("Scan and list the catalog")[0], undefined);
    assert.equal(choose("Scan and list the catalog", { delivers: "report" })[0], "Explore");
    for (const word of ["write", "create", "save", "generates", "produce", "output"])
      assert.equal(choose(`Scan and list all, and ${word} it`, { delivers: "report" })[0], undefined, word);
    const [name, why] = choose("Scan all, create a list", { agent: "Explore", delivers: "report" });
    assert.deepEqual([name, /only for reading, and this task says "create"/.test(why)], [undefined, true]);
  });

  it("is nobody for a fix task, whose words are those of the errors", () => {
    const [name, why] = choose("Repair the deploy of docker", { repairs: ["x"] });
    assert.deepEqual([name, why], [undefined, "a fix task needs no special role"]);
  });

  it("is the user's by the words of its name, before a built-in with as many", () => {
    const all = withBuiltIn([own("docker-pipeline-expert")]);
    assert.equal(choose("Mend the pipeline of docker", {}, all)[0], "docker-pipeline-expert");
  });
});

describe("the list of specialists", () => {
  it("has each name once: the user's own in place of a built-in", () => {
    const mine = own("explore");
    const all = withBuiltIn([mine]);
    assert.equal(all[0], mine);
    assert.equal(all.length, withBuiltIn([]).length);
    assert.equal(new Set(all.map(({ name }) => name.toLowerCase())).size, all.length);
  });

  it("is chosen from after mappings, before the heuristics", () => {
    const engine = new DelegationEngine({ roster: [{ subagent: "fruit", keywords: ["apple", "pear"] }] });
    assert.equal(engine.matchSubagent({ description: "Debug apples and pears" }), "fruit");
    assert.equal(engine.matchSubagent({ description: "Debug apples" }), "debugger");
    engine.addMapping({ taskType: "apple", subagent: "mapped" });
    assert.equal(engine.matchSubagent({ description: "Debug apples and pears" }), "mapped");
    assert.equal(engine.matchSubagent({ description: "Apples and pears", delegateTo: "me" }), "me");
  });

  it("finds each of the built-in ones by its own keywords", () => {
    for (const { name, keywords, isReadOnly } of withBuiltIn([])) {
      const found = choose(keywords.join(", "), { delivers: isReadOnly ? "report" : "change" })[0];
      assert.equal(found, name);
    }
  });
});

describe("a keyword", () => {
  const finds = (keyword: string, text: string) => {
    const specialist = own("x", { keywords: [keyword, "anchor"], source: "built in" });
    return (
      chooseSpecialist({ description: `${text}, anchor`, delivers: "change" }, [specialist]).specialist !==
      undefined
    );
  };

  it("is found in all its forms, also where the word's end changes", () => {
    for (const [keyword, text] of [
      ["carry", "it carried"],
      ["tie", "tying it"],
      ["move", "moving it"],
      ["CI/CD", "the ci/cd of it"],
      ["best practices", "a best practice"],
      ["dependencies", "one dependency"],
      ["write docs", "writing the doc"],
      ["optimize", "OPTIMIZING it"],
    ] as const)
      assert.ok(finds(keyword, text), `${keyword} in ${text}`);
    for (const [keyword, text] of [
      ["test", "the contest"],
      ["fix", "a prefix"],
      ["dependencies", "it depends"],
    ] as const)
      assert.ok(!finds(keyword, text), `${keyword} in ${text}`);
  });
});
