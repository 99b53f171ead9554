/** Tests which of the user's git settings hold for workers' files, and that their programs run only if allowed. */
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { appendFile, mkdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { describe, it } from "node:test";
import { agree, makePlace, type Place } from "./cli-place.ts";
import { agentOf, COMPLETE, ONCE, runOf } from "./odd-place.ts";

const LIMIT = { timeout: 90_000 };
/** The base fails its gate, with no named tests that could be compared. */
const REPAIRED = ["--set", "onRedBase=repair"];
const ALONE = ["--planner", "none", ...ONCE];

/** Adds to the user's git settings, which are outside of any repository. */
const configure = ({ folder }: Place, text: string) => appendFile(path.join(folder, "home/.gitconfig"), text);

/** Runs one task, whose work is a shell script, with a gate. */
async function worked(place: Place, work: string, gate: string, ...more: readonly string[]) {
  const agent = await agentOf(place, "worker.sh", `set -e; ${work}; ${COMPLETE}`);
  // A process of its own, with the place's home, from which git reads its settings.
  const live = place.start("run", "x", "--agent", agent, "--gate", gate, ...ALONE, ...more);
  const ended = await live.ended;
  const run = runOf(ended.out);
  return { ...ended, run, target: `skein/${run}/target` };
}

/** A filter that rotates letters by thirteen places, so that git's content differs from that of the files. */
const ROT = `[filter "rot"]\n\tclean = "tr a-z n-za-m"\n\tsmudge = "tr n-za-m a-z"\n\trequired\n`;

describe("of the user's git settings", { concurrency: 2 }, () => {
  it("no filter runs because a worker names it, whoever keeps, gates or delivers", LIMIT, async () => {
    await using place = await makePlace({ files: { "a.txt": "1\n2\n3\n4\n5\n" } });
    const marker = path.join(place.folder, "marker");
    const touch = `touch '${marker}'`;
    const filter = (name: string) =>
      `[filter "${name}"]\n\tclean = "${touch}; cat"\n\tsmudge = "${touch}; cat"\n\trequired = true\n`;
    // Git runs this hook on the serving side of a fetch.
    const hook = `[uploadpack]\n\tpackObjectsHook = "${touch};"\n`;
    await configure(place, filter("planted") + hook);
    const attributes = "* filter=planted";
    const work = `echo '${attributes}' > .gitattributes; echo x > x.txt; git add x.txt; git commit -qm own; echo y > y.txt`;
    const { code, out, err, target } = await worked(place, work, "cat *.txt", "--deliver", "--into-checkout");
    assert.equal(code, 0, out + err);
    assert.ok(!existsSync(marker), "a program of the settings was started");
    const files = await place.repository.git("ls-tree", "--name-only", target);
    assert.equal(files, ".gitattributes\na.txt\nx.txt\ny.txt");
    assert.equal(await readFile(path.join(place.repository.folder, "y.txt"), "utf8"), "y\n");
  });

  it("no filter runs that was set up after the run had begun", LIMIT, async () => {
    await using place = await makePlace({ files: { "a.txt": "a\n" } });
    const marker = path.join(place.folder, "marker");
    await configure(place, "");
    const set = ["clean", "smudge"].map(
      (part) => `git config --global filter.late.${part} "touch '${marker}'; cat"`,
    );
    const work = `${set.join("; ")}; echo '* filter=late' > .gitattributes; echo x > x.txt`;
    const { code, out, err, target } = await worked(place, work, "cat *.txt");
    assert.equal(code, 0, out + err);
    assert.match(await readFile(path.join(place.folder, "home/.gitconfig"), "utf8"), /filter "late"/);
    assert.ok(!existsSync(marker), "a program of the settings was started");
    assert.equal(
      await place.repository.git("ls-tree", "--name-only", target),
      ".gitattributes\na.txt\nx.txt",
    );
  });

  it("a filter that the repository uses works on both sides, if it is allowed", LIMIT, async () => {
    await using place = await makePlace({ files: { ".gitattributes": "*.txt filter=rot\n" } });
    await configure(place, ROT);
    // The test's own git reads only the settings of the repository.
    await place.repository.git("config", "filter.rot.clean", "tr a-z n-za-m");
    await agree(place);
    await place.repository.commit({ "a.txt": "plain\n" });
    assert.equal(await place.repository.git("show", "HEAD:a.txt"), "cynva");
    const work = `grep plain a.txt; echo plain > b.txt; git add b.txt; git commit -qm own; echo plain > c.txt`;
    const allow = ["--set", "workspace.filters=rot", ...REPAIRED, "--deliver", "--into-checkout"];
    const { code, out, err, target } = await worked(place, work, "grep -h plain a.txt b.txt c.txt", ...allow);
    assert.equal(code, 0, out + err);
    for (const file of ["b.txt", "c.txt"]) {
      assert.equal(await place.repository.git("show", `${target}:${file}`), "cynva");
      assert.equal(await readFile(path.join(place.repository.folder, file), "utf8"), "plain\n");
    }
  });

  it(
    "a filter that the repository uses and that is not allowed stops the run, with the line that allows it",
    LIMIT,
    async () => {
      const files = {
        ".gitattributes": "*.txt filter=rot\n*.md filter=nowhere\n",
        "a.txt": "a\n",
        "b.md": "b\n",
      };
      await using place = await makePlace({ files });
      const started = await worked(place, "echo c > c.md", "true");
      assert.equal(started.code, 0, `configured nowhere, it is nothing to git: ${started.out}${started.err}`);
      await configure(place, ROT);
      const refused = await worked(place, "echo x > x.txt", "true", "--set", "workspace.filters=other");
      assert.equal(refused.code, 3, refused.out + refused.err);
      assert.match(refused.err, /git puts a\.txt through the filter rot: a program of your settings/);
      assert.match(refused.err, /add to skein\.yaml: workspace\.filters: \[other, rot\]/);
      assert.equal(await place.repository.git("for-each-ref", `refs/heads/skein/${refused.run}`), "");
      assert.match((await place.start("doctor").ended).out, /workspace\.filters: \[rot\]/);
      await writeFile(
        path.join(place.repository.folder, "skein.yaml"),
        "workspace:\n  # copy: [node_modules]\nworkspace.filters: [rot]\n",
      );
      await agree(place);
      const allowed = await worked(place, "echo c > d.md", "true");
      assert.equal(allowed.code, 0, allowed.out + allowed.err);
    },
  );

  it("who the user is, how lines end and what is ignored hold for workers as well", LIMIT, async () => {
    await using place = await makePlace({ files: { "a.txt": "1\n2\n" } });
    await place.repository.git("config", "--remove-section", "user");
    await configure(
      place,
      "[user]\n\tname = Somebody\n\temail = some@body\n[core]\n\tautocrlf = true\n\texcludesFile = ~/ignored\n",
    );
    await writeFile(path.join(place.folder, "home/ignored"), "*.scrap\n");
    const work = `grep -c "$(printf '\\r')" a.txt; printf '3\\r\\n' > b.txt; echo s > c.scrap; git status --porcelain > seen.txt`;
    const { code, out, err, target } = await worked(place, `${work}; echo n > n.txt`, "true");
    assert.equal(code, 0, out + err);
    const { git } = place.repository;
    assert.equal(await git("ls-tree", "--name-only", target), "a.txt\nb.txt\nn.txt\nseen.txt");
    assert.equal(await git("cat-file", "-s", `${target}:b.txt`), "2");
    assert.doesNotMatch(await git("show", `${target}:seen.txt`), /scrap/);
    assert.equal(await git("log", "-1", "--format=%an <%ae>", target), "Somebody <some@body>");
  });

  it(
    "git-lfs works, and reaches the user's server alone, whatever a worker writes into .lfsconfig",
    LIMIT,
    async () => {
      await using place = await makePlace({
        files: { ".gitattributes": "*.bin filter=lfs\n", "a.md": "a\n" },
      });
      const programs = path.join(place.folder, "programs");
      const heard = path.join(place.folder, "heard");
      await mkdir(programs);
      // Like git-lfs, this program prefers git's settings to the file. It adds a mark to the content.
      const stand = `#!/bin/sh
url=$(git config lfs.url) || url=$(git config -f .lfsconfig lfs.url)
echo "$1 $url $(git config lfs.pushurl)" >> '${heard}'
case $1 in clean) echo pointer; cat;; smudge) sed 1d;; esac\n`;
      await writeFile(path.join(programs, "git-lfs"), stand, { mode: 0o755 });
      await configure(
        place,
        '[filter "lfs"]\n\tclean = git-lfs clean -- %f\n\tsmudge = git-lfs smudge -- %f\n\trequired = true\n',
      );
      await place.repository.git("remote", "add", "origin", "https://me:secret@git.example/x");
      const work = `printf '[lfs]\\n\\turl = https://evil.example\\n\\tpushurl = https://evil.example\\n' > .lfsconfig
      echo large > x.bin; ! grep -r secret .git; git config lfs.url > seen.txt; git add .lfsconfig x.bin; git commit -qm own
      echo larger > y.bin`;
      const env = { PATH: `${programs}${path.delimiter}${process.env["PATH"]}` };
      const agent = await agentOf(place, "worker.sh", `set -e; ${work}; ${COMPLETE}`);
      const gate = "grep -x large x.bin && grep -x larger y.bin";
      const args = [
        "run",
        "x",
        "--agent",
        agent,
        "--gate",
        gate,
        ...ALONE,
        ...REPAIRED,
        "--deliver",
        "--into-checkout",
      ];
      const { code, out, err } = await place.with({ env }).start(...args).ended;
      assert.equal(code, 0, out + err);
      const target = `skein/${runOf(out)}/target`;
      assert.equal(await place.repository.git("show", `${target}:y.bin`), "pointer\nlarger");
      assert.equal(
        await place.repository.git("show", `${target}:seen.txt`),
        "https://git.example/x.git/info/lfs",
      );
      assert.equal(await readFile(path.join(place.repository.folder, "y.bin"), "utf8"), "larger\n");
      const calls = (await readFile(heard, "utf8")).trim().split("\n");
      const [clean, smudge] = ["clean", "smudge"].map((verb) =>
        calls.filter((line) => line.startsWith(verb)),
      );
      assert.ok(clean!.length >= 2 && smudge!.length >= 4, calls.join("\n"));
      const full = "https://me:secret@git.example/x.git/info/lfs";
      const plain = "https://git.example/x.git/info/lfs"; // The address that the worker's own git sees.
      for (const call of calls)
        assert.ok(call.endsWith(` ${full} ${full}`) || call.endsWith(` ${plain} ${plain}`), call);
    },
  );
});
