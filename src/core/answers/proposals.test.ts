import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type Problem, planRepairs } from "../rules/repair.ts";
import { withProposals } from "./proposals.ts";

const LIMITS = { maxTasks: 5, maxFiles: 3 };
const problem = (name: string, ...files: readonly string[]): Problem => ({
  class: "types",
  name,
  files,
  message: `${name} is wrong`,
});
const plan = (problems: readonly Problem[]) =>
  planRepairs({ problems, pending: [], usedKeys: new Set(), limits: LIMITS }).tasks;

describe("proposals of a model", () => {
  const problems = [
    problem("tsc: a", "src/a.ts"),
    problem("tsc: b", "src/b.ts"),
    problem("tsc: c", "src/c.ts"),
  ];

  it("bring failures of one cause into one fix, with its files and words", () => {
    const [fix, ...others] = plan(
      withProposals(
        problems,
        [
          {
            id: "rename",
            description: "tsc: a and tsc: b: the export was renamed",
            scope: ["src/x.ts", "src/a.ts", "src/b.ts"],
          },
        ],
        LIMITS,
      ),
    );
    assert.deepEqual(fix!.repairs, ["tsc: a", "tsc: b"]);
    assert.deepEqual(fix!.scope, ["src/a.ts", "src/b.ts", "src/x.ts"]);
    assert.match(fix!.description, /What was found: .*the export was renamed/);
    assert.deepEqual(
      others.map(({ repairs }) => repairs),
      [["tsc: c"]],
      "what it left out is planned for by rule",
    );
  });

  it("know a failure by one of its files where they do not name it", () => {
    const [, , c] = withProposals(
      problems,
      [{ id: "x", description: "mend it", scope: ["src/c.ts"] }],
      LIMITS,
    );
    assert.equal(c!.cause, "proposal x");
  });

  it("change nothing where they are too large, have no file, or lead out of the repository", () => {
    const odd = [
      { id: "1", description: "tsc: a", scope: ["a", "b", "c", "d"] },
      { id: "2", description: "tsc: a", scope: [] },
      { id: "3", description: "tsc: a", scope: ["../outside"] },
      { id: "4", description: "tsc: a", scope: ["src/"] },
    ];
    assert.deepEqual(withProposals(problems, odd, LIMITS), problems);
  });

  it("are not more than a sweep may ask for", () => {
    const many = Array.from({ length: 9 }, (_, i) => ({
      id: `${i}`,
      description: i === 8 ? "tsc: a" : "nothing",
      scope: [`f${i}.ts`],
    }));
    assert.deepEqual(withProposals(problems, many, LIMITS), problems);
  });
});
