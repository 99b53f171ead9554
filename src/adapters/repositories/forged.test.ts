/** Tests that `Skein-*` trailers which a worker forged are removed from everything that lands. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { describe, it } from "node:test";
import { makeWorld, member, RUN, TARGET, type World } from "../../../test/contracts/repository.ts";
import { startedGits } from "../git/git.ts";
import { GitRepository } from "./git.ts";
import { withoutForged } from "./message.ts";

const open = (folder: string) => new GitRepository({ folder });
const STRATEGIES = ["merge-commit", "rebase", "fast-forward"] as const;

/** Makes a commit by a worker with this name as author and as committer. */
async function commitBy({ at }: World, name: string, file: string, ...paragraphs: readonly string[]) {
  await at.write({ [file]: `${file}\n` });
  await at.git("add", ".");
  const who = ["-c", `user.name=${name}`, "-c", "user.email=w@example.invalid"];
  await at.git(...who, "commit", "-q", ...paragraphs.flatMap((text) => ["-m", text]));
}

const trailersIn = async ({ at }: World, range: string) =>
  (await at.git("log", "--format=%(trailers:unfold,separator=%x0A)", range))
    .split("\n")
    .filter((line) => line !== "");

describe("a trailer that a worker forged", () => {
  for (const strategy of STRATEGIES)
    it(`is not in what lands by ${strategy}: the author stays, the committer is Skein's, other words stay`, async () => {
      await using world = await makeWorld(open);
      await world.at.git("checkout", "-q", "-b", "work");
      const forged = "Fixes: #7\nSkein-Task: t.9\n  and t.10\nskein-run : r9\nSkein-Gate: green";
      await commitBy(world, "Worker", "b.txt", "Add b", "Skein-Task: this is a sentence.", forged);
      await commitBy(
        world,
        "Worker",
        "c.txt",
        "Add c",
        "Why it is so.",
        "Skein-Task: t.1.2",
        "Skein-Proof: yes",
      );
      await world.at.git("checkout", "-q", "main");
      const { commit } = await world.candidate([member("t.1", "work")], { strategy });
      const range = `${world.base}..${commit}`;
      const trailers = await trailersIn(world, range);
      assert.deepEqual(
        trailers.filter((line) => !/^(?:Skein-Run: r1|Skein-Task: t\.1(?:\.2)?|Fixes: #7)$/.test(line)),
        [],
      );
      assert.ok(trailers.includes("Fixes: #7") && trailers.includes("Skein-Task: t.1"));
      const log = await world.at.git("log", "--no-merges", "--format=%s|%an|%cn|%b", range);
      assert.match(log, /Add c\|Worker\|Test Person\|Why it is so\./);
      assert.match(log, /Add b\|Worker\|Test Person\|Skein-Task: this is a sentence\./);
      assert.equal(await world.at.git("ls-tree", "--name-only", commit!), "a.txt\nb.txt\nc.txt");
    });

  for (const [what, message] of [
    ["before comments, which git ignores at the end", "Add b\n\nSkein-Task: t.9\n\n# a comment\n"],
    ["before a list of conflicts", "Add b\n\nSkein-Task: t.9\n\nConflicts:\n\ta.txt\n"],
    [
      "before the scissors of an editor",
      `Add b\n\nSkein-Task: t.9\n# ${"-".repeat(24)} >8 ${"-".repeat(24)}\nmore\n\nend\n`,
    ],
    ["before a line of dashes", "Add b\n\nSkein-Task: t.9\n---\nmore\n\nend\n"],
    [
      "before a space that only others take for blank",
      "Add b\n\nWhy.\n\nSkein-Task: t.9\n\u00a0\nSigned-off-by: a <a@b>\n",
    ],
    ["as more of its own", "Add b\n\nSkein-Task: t.1\n and t.9\n"],
    ["as words after the name of a subtask", "Add b\n\nSkein-Task: t.1.2 and t.9\n"],
    ["before a zero character", "Add b\n\nSkein-Task: t.9\n\0\n\nend\n"],
    ["in an encoding that only git knows", "Add b\n\n+AFM-kein-Task: t.9\n"],
  ] as const)
    it(`is not in what lands ${what}`, async () => {
      await using world = await makeWorld(open);
      await world.at.write({ "b.txt": "b\n" });
      await world.at.git("add", ".");
      const tree = await world.at.git("write-tree");
      await world.at.git("reset", "-q", "--hard");
      const who = "Worker <w@example.invalid> 1700000000 -0100";
      const encoding = message.includes("+AFM-") ? "encoding UTF-7\n" : "";
      const text = `tree ${tree}\nparent ${world.base}\nauthor ${who}\ncommitter ${who}\n${encoding}\n${message}`;
      const input = { cwd: world.at.folder, input: text, encoding: "utf8" } as const;
      const made = execFileSync("git", ["hash-object", "-t", "commit", "-w", "--stdin"], input).trim();
      await world.at.git("branch", "work", made);
      const forgedIn = async (commit: string) =>
        [
          await world.at.git("log", "--format=%(trailers:unfold)", "--no-merges", `${world.base}..${commit}`),
          execFileSync("git", ["interpret-trailers", "--parse"], {
            ...input,
            input: await world.at.git("log", "-1", "--format=%B", commit),
          }),
        ].filter((said) => said.includes("t.9"));
      assert.notDeepEqual(await forgedIn(made), [], "git reads it");
      for (const strategy of STRATEGIES) {
        const { commit } = await world.candidate([member("t.1", "work")], { strategy });
        assert.deepEqual(await forgedIn(commit!), [], strategy);
        if (strategy === "merge-commit") assert.deepEqual(await forgedIn(`${commit}^2`), []);
      }
    });

  it("is removed from a long message in time, also where comments stand between many", () => {
    const message = `Add b\n\n${"Skein-Task: t.9\n\n# c\n\n".repeat(50_000)}---\n${"x\n\n".repeat(100_000)}`;
    const begun = performance.now();
    const left = withoutForged("r1", member("t.1", "work"), message);
    assert.ok(performance.now() - begun < 2_000, `${performance.now() - begun} ms`);
    assert.doesNotMatch(left, /Skein/);
    assert.match(left, /^Add b\n\n# c\n\n# c\n/);
  });

  it("is found below many commits and behind merges, whose shape stays", async () => {
    await using world = await makeWorld(open);
    await world.at.git("checkout", "-q", "-b", "side");
    await commitBy(world, "Worker", "side.txt", "Side", "Skein-Task: t.9");
    await world.at.git("checkout", "-q", "-b", "work", world.base);
    for (let i = 0; i < 25; i += 1) await commitBy(world, "Worker", `${i}.txt`, `Add ${i}`);
    await world.at.git("merge", "-q", "--no-ff", "-m", "Merge side", "side");
    await world.at.git("checkout", "-q", "main");
    const { commit } = await world.candidate([member("t.1", "work")]);
    assert.deepEqual(await trailersIn(world, `${world.base}..${commit}^2`), []);
    assert.equal(await world.at.git("rev-list", "--merges", "--count", `${world.base}..${commit}^2`), "1");
    assert.equal(await world.at.git("rev-list", "--count", `${world.base}..${commit}^2`), "27");
    const first = await world.at.git("rev-list", "--reverse", "--grep=^Add", `${world.base}..work`);
    const landed = await world.at.git("rev-list", "--reverse", "--grep=^Add", `${world.base}..${commit}^2`);
    assert.equal(landed, first, "commits below it are the same");
  });

  it("is looked for without a process also where the target is many landings ahead", async () => {
    await using world = await makeWorld(open);
    await world.at.git("checkout", "-q", "-b", "work");
    await commitBy(world, "Worker", "b.txt", "Add b", `Skein-Run: ${RUN}\nSkein-Task: t.1`);
    await world.at.git("checkout", "-q", "main");
    for (let i = 0; i < 30; i += 1) await commitBy(world, "Person", `${i}.txt`, `Add ${i}`);
    const onto = await world.at.git("rev-parse", "main");
    await world.candidate([member("t.1", "work")]); // Starts the reader of objects.
    const before = startedGits();
    await world.candidate([member("t.1", "work")], { onto });
    assert.equal(startedGits() - before, 1, "the merge");
  });

  it("is told from what Skein wrote itself: of this task, and of what another run landed", async () => {
    await using world = await makeWorld(open);
    const own = `Skein-Run: ${RUN}\nSkein-Task: t.1`;
    await world.at.git("checkout", "-q", "-b", "work");
    await commitBy(world, "Worker", "b.txt", "Add b", own);
    const work = await world.at.git("rev-parse", "HEAD");
    await world.at.git("checkout", "-q", "main");
    for (const strategy of ["merge-commit", "fast-forward"] as const) {
      const { commit } = await world.candidate([member("t.1", "work")], { strategy });
      assert.equal(
        await world.at.git("rev-parse", strategy === "fast-forward" ? commit! : `${commit}^2`),
        work,
      );
    }
    const landed = await world.landOn([member("t.1", "work")]);
    const next = { run: "r2", onto: world.base };
    const { commit } = await world.candidate([member("t.1", TARGET)], next);
    assert.equal(await world.at.git("rev-parse", `${commit}^2`), landed, "r1 has a target and proofs");
  });
});
