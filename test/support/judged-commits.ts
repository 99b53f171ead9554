/** Judges real git commits by the rules about their tests and marks. */
import assert from "node:assert/strict";
import { it } from "node:test";
import { GitRepository } from "../../src/adapters/repositories/git.ts";
import { defaultPolicy } from "../../src/core/rules/policy.ts";
import { judgeTestsAndMarks } from "../../src/core/rules/tests-and-marks.ts";
import { got, makeWorld, quiet } from "../contracts/repository.ts";

export type Files = Readonly<Record<string, string | null>>;
export type Commit = {
  readonly what: string;
  readonly task: string;
  readonly before: Files;
  readonly after: Files;
  /** A pattern for each broken rule; `flagged`: a pattern for each flag. */
  readonly refused?: readonly RegExp[];
  readonly flagged?: readonly RegExp[];
};

async function verdictOf({ task, before, after }: Commit) {
  const open = (folder: string) => new GitRepository({ folder });
  await using world = await makeWorld(open, before as Record<string, string>);
  const commit = await world.at.branch("work", after);
  const evidence = got(await world.repository.evidence(world.base, commit, quiet));
  return judgeTestsAndMarks({ description: task, acceptance: "" }, evidence, defaultPolicy.evidence);
}

export function checkCommits(commits: readonly Commit[]): void {
  for (const commit of commits) {
    it(commit.what, async () => {
      const { broken, flagged } = await verdictOf(commit);
      const { refused = [], flagged: flags = [] } = commit;
      assert.equal(broken.length, refused.length, `broken: ${broken.join("\n")}`);
      for (const [i, pattern] of refused.entries()) assert.match(broken[i]!, pattern);
      assert.equal(flagged.length, flags.length, `flagged: ${flagged.join("\n")}`);
      for (const [i, pattern] of flags.entries()) assert.match(flagged[i]!, pattern);
    });
  }
}

export const py = (name: string, value: number) =>
  `def test_${name}(runner):\n    result = runner.invoke("${name}")\n    assert result == ${value}\n    assert runner.calls == ["${name}"]\n`;
export const js = (title: string, call: string, inside = "") =>
  `  it("${title}", async () => {\n${inside}    const answer = await ${call};\n    expect(answer.status).toBe(200);\n    expect(answer.body).toContain("${title}");\n  });\n`;
export const suite = (...cases: readonly string[]) => `describe("shop", () => {\n${cases.join("\n")}});\n`;
export const go = (name: string, call: string) =>
  `func ${name}(t *testing.T) {\n\tgot := ${call}\n\tif got != "${call}" {\n\t\tt.Errorf("got %q", got)\n\t}\n}\n`;
