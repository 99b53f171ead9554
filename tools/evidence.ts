/**
 * Shows how often Skein's rules about tests and marks would refuse real commits: `npm run evidence -- <repository>`.
 *
 * Judges the newest commits of a repository as if workers had made them, each with its own message as the task.
 * Options: `--commits 120`, `--all`.
 */
import { parseArgs } from "node:util";
import { git } from "../src/adapters/git/git.ts";
import { GitRepository } from "../src/adapters/repositories/git.ts";
import { hasFailed } from "../src/core/result.ts";
import { defaultPolicy } from "../src/core/rules/policy.ts";
import { judgeTestsAndMarks } from "../src/core/rules/tests-and-marks.ts";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    commits: { type: "string", default: "120" },
    all: { type: "boolean", default: false },
  },
});
const [folder] = positionals;
const count = Number(values.commits);
if (folder === undefined || !Number.isInteger(count) || count < 1) {
  console.error("usage: npm run evidence -- <repository> [--commits 120] [--all]");
  process.exit(2);
}

const commits = await newestCommits(folder, count);
const repository = new GitRepository({ folder });
let [refused, flagged] = [0, 0];
for (const { id, parent, message } of commits) {
  const evidence = await repository.evidence(parent, id, AbortSignal.timeout(60_000));
  const [subject = ""] = message.split("\n");
  const title = `${id.slice(0, 9)} ${subject.slice(0, 90)}`;
  if (hasFailed(evidence)) {
    refused += 1;
    console.log(`refused  ${title}\n           ${evidence.failure.message}`);
    continue;
  }
  const task = { description: message, acceptance: "" };
  const verdict = judgeTestsAndMarks(task, evidence, defaultPolicy.evidence);
  const isRefused = verdict.broken.length > 0;
  if (isRefused) refused += 1;
  else if (verdict.flagged.length > 0) flagged += 1;
  const how = isRefused ? "refused" : verdict.flagged.length > 0 ? "flagged" : "passed";
  if (!isRefused && !values.all) continue;
  console.log(`${how.padEnd(8)} ${title}`);
  for (const line of [...verdict.broken, ...(values.all ? verdict.flagged : [])].slice(0, 20))
    console.log(`           ${line}`);
}
await repository.close();
const share = commits.length === 0 ? 0 : (100 * refused) / commits.length;
console.log(`${commits.length} commits: ${refused} refused (${share.toFixed(1)} %), ${flagged} flagged`);

/** Follows the first parents: a merge counts as one change, with the messages of all its commits. */
async function newestCommits(from: string, max: number) {
  const listed = await log(from, ["--first-parent", "--min-parents=1", `--max-count=${max}`, "HEAD"]);
  const whole = [];
  for (const { id, parents, message } of listed) {
    const [parent = "", ...merged] = parents;
    const parts =
      merged.length > 0 ? await log(from, ["--no-merges", "--max-count=200", `${parent}..${id}`]) : [];
    whole.push({ id, parent, message: [message, ...parts.map((part) => part.message)].join("\n\n") });
  }
  return whole;
}

async function log(from: string, args: readonly string[]) {
  const format = "--format=%H%x00%P%x00%B%x1e";
  const answer = await git({ folder: from, args: ["log", format, ...args] }, AbortSignal.timeout(60_000));
  if (!answer.ok) {
    console.error(answer.failure.message);
    process.exit(1);
  }
  return answer.out.split("\x1e").flatMap((entry) => {
    const [id, parents, message] = entry.trimStart().split("\0");
    return id && parents && message !== undefined ? [{ id, parents: parents.split(" "), message }] : [];
  });
}
