/** Tests that commits are moved between machines, and nothing else with them. Real git, a bare remote, two clones. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { mkdir, rename, writeFile } from "node:fs/promises";
import path from "node:path";
import { describe, it } from "node:test";
import { setTimeout as later } from "node:timers/promises";
import { failed, got, member, proofOf, quiet, RUN, TARGET } from "../../../test/contracts/repository.ts";
import { newFolder } from "../../../test/support/folders.ts";
import { firstLine, makePipe } from "../../../test/support/pipes.ts";
import { makeRepository, openRepository, type TestRepository } from "../../../test/support/repositories.ts";
import { GitRepository } from "../repositories/git.ts";
import { makeBundle, takeBundle } from "./bundles.ts";
import { JobObjects } from "./job-objects.ts";
import { Mirror } from "./mirror.ts";
import { inputRef, outputRef, wrongRemote } from "./names.ts";
import { GitRemote } from "./remote.ts";
import { RemoteTarget } from "./remote-target.ts";

type Machine = ReturnType<typeof openMachine>;

function openMachine(at: Pick<TestRepository, "folder" | "git" | "commit" | "branch">, url: string) {
  const gitDir = path.join(at.folder, ".git");
  const remote = new GitRemote({ gitDir, remote: url, patienceMs: 5_000 });
  const shared = new RemoteTarget({ gitDir, remote, run: RUN });
  const objects = new JobObjects({ gitDir, remote, shared, target: TARGET, run: RUN });
  return { at, gitDir, remote, shared, objects };
}

/** Makes a coordinator's repository with a target on the remote, and a worker's mirror. */
async function makeFleet() {
  const remote = await makeRepository({ bare: true, name: "remote.git" });
  const at = await makeRepository({ files: { "a.txt": "one\n" } });
  const base = await at.git("rev-parse", "HEAD");
  await at.git("push", "-q", remote.folder, "main");
  await at.git("branch", TARGET);
  const here = openMachine(at, remote.folder);
  assert.equal(await here.shared.make(TARGET, base, quiet), "made");
  const mirror = got(await Mirror.open(newFolder(), remote.folder, quiet));
  return {
    ...{ remote, here, base, mirror },
    [Symbol.asyncDispose]: async () => {
      await remote[Symbol.asyncDispose]();
      await at[Symbol.asyncDispose]();
    },
  };
}

/** Makes what a worker would make of a commit that it has: one more commit, under a ref of the mirror. */
async function madeIn(mirror: Mirror, from: string, files: Parameters<TestRepository["commit"]>[0]) {
  const work = openRepository(newFolder());
  await work.git("clone", "-q", "--shared", "--no-checkout", mirror.gitDir, ".");
  for (const [key, value] of [
    ["user.name", "W"],
    ["user.email", "w@example.invalid"],
  ] as const)
    await work.git("config", key, value);
  await work.git("checkout", "-q", "--detach", from);
  const commit = await work.commit(files);
  await work.git("push", "-q", mirror.gitDir, "+HEAD:refs/heads/made");
  return commit;
}

describe("objects of a fleet", () => {
  it("a commit that the target has is not sent again; another is, under a name of its job", async () => {
    await using fleet = await makeFleet();
    const { here, base, remote, mirror } = fleet;
    const other = await here.at.branch("other", { "b.txt": "b\n" });
    const needed = got(await here.objects.offer("work:t.1#1", [base, other], quiet));
    assert.deepEqual(needed, [
      { commit: base, ref: `refs/heads/${TARGET}` },
      { commit: other, ref: inputRef(RUN, "work:t.1#1", 1) },
    ]);
    assert.equal(await remote.git("rev-parse", inputRef(RUN, "work:t.1#1", 1)), other);
    assert.equal(await mirror.fetch(needed, quiet), undefined);
    assert.match(
      failed((await mirror.fetch([{ commit: "0".repeat(40), ref: needed[0]!.ref }], quiet))!),
      /is not on the remote/,
    );
  });

  it("what a try pushed becomes the attempt's branch, if it is what its answer says", async () => {
    await using fleet = await makeFleet();
    const { here, base, mirror } = fleet;
    await mirror.fetch(got(await here.objects.offer("work:t.1#1", [base], quiet)), quiet);
    const commit = await madeIn(mirror, base, { "c.txt": "c\n" });
    const ref = outputRef(RUN, "work:t.1#1", 0);
    assert.equal(await mirror.push(ref, commit, quiet), undefined);
    const branch = "refs/heads/skein/r1/task/t.1.1-c";
    const lie = { ref, commit: base, known: [base] };
    assert.match(failed((await here.objects.take(lie, [branch], quiet))!), /does not lead to/);
    const stolen = { ref: "refs/heads/main", commit: base, known: [] };
    assert.match(failed((await here.objects.take(stolen, [branch], quiet))!), /not its own/);
    assert.equal(await here.objects.take({ ref, commit, known: [base] }, [branch], quiet), undefined);
    assert.equal(await here.at.git("rev-parse", branch), commit);
    assert.deepEqual(got(await here.objects.offer("work:t.1#2", [commit], quiet)), [{ commit, ref }]);
  });

  it("another coordinator with an empty clone finds the target, its proofs and what was handed in", async () => {
    await using fleet = await makeFleet();
    const { here, base, remote, mirror } = fleet;
    await mirror.fetch(got(await here.objects.offer("work:t.1#1", [base], quiet)), quiet);
    const commit = await madeIn(mirror, base, { "c.txt": "c\n" });
    await mirror.push(outputRef(RUN, "work:t.1#1", 0), commit, quiet);
    await landOne(here, base, "t.2");
    const folder = newFolder();
    await openRepository(folder).git("clone", "-q", remote.folder, ".");
    const there = openMachine(openRepository(folder), remote.folder);
    assert.equal(await there.shared.fetch(TARGET, quiet), undefined);
    assert.equal(await there.objects.recover([commit, base], quiet), undefined);
    const repository = new GitRepository({ folder, shared: there.shared });
    const seen = got(await repository.look(TARGET, base, quiet));
    assert.deepEqual(
      seen.landings.map(({ members }) => members),
      [[{ task: "t.2", attempt: 1 }]],
    );
    assert.equal(await there.at.git("cat-file", "-t", commit), "commit");
    repository.close();
  });

  it("leaves nothing of a run's jobs on the remote when the run is over", async () => {
    await using fleet = await makeFleet();
    const { here, remote } = fleet;
    const other = await here.at.branch("other", { "b.txt": "b\n" });
    await here.objects.offer("work:t.1#1", [other], quiet);
    assert.equal(await here.objects.cleanUp(quiet), undefined);
    assert.equal(await remote.git("for-each-ref", "refs/skein"), "");
    await remote.git("fetch", "-q", here.at.folder, `${other}:refs/skein/fleet/${RUN}`);
    assert.equal(await here.objects.cleanUp(quiet), undefined);
    assert.equal(await remote.git("for-each-ref", "refs/skein"), "", "nor what keeps others out");
    assert.equal(await here.objects.cleanUp(quiet), undefined);
  });

  it("waits for a remote that cannot be reached for a while", async () => {
    await using fleet = await makeFleet();
    const { here, remote, base } = fleet;
    await rename(remote.folder, `${remote.folder}.away`);
    const other = await here.at.branch("other", { "b.txt": "b\n" });
    const offered = here.objects.offer("work:t.1#1", [other], quiet);
    await later(300);
    await rename(`${remote.folder}.away`, remote.folder);
    assert.equal(got(await offered).length, 1);
    await rename(remote.folder, `${remote.folder}.away`);
    const gone = new GitRemote({ gitDir: here.gitDir, remote: remote.folder, patienceMs: 300 });
    assert.match(failed(await gone.list([`refs/heads/${TARGET}`])), /does not appear to be a git repository/);
    await rename(`${remote.folder}.away`, remote.folder);
    assert.ok(base);
  });
});

async function landOne({ at, shared }: Machine, onto: string, task: string): Promise<string> {
  const repository = new GitRepository({ folder: at.folder, shared });
  got(await repository.look(TARGET, onto, quiet));
  await at.branch(task, { [`${task}.txt`]: "x\n" }, { from: onto });
  const members = [member(task, task)];
  const made = got(
    await repository.candidate({ run: RUN, onto, strategy: "merge-commit", members }, quiet),
  ) as { readonly commit: string };
  const landing = { target: TARGET, from: onto, to: made.commit, proof: proofOf(...members) };
  assert.deepEqual(await repository.land(landing, quiet), { is: "landed" });
  repository.close();
  return made.commit;
}

describe("a target on the remote", () => {
  it("moves there with its proof, and what another coordinator landed first is seen as moved", async () => {
    await using fleet = await makeFleet();
    const { here, base, remote } = fleet;
    const folder = newFolder();
    await openRepository(folder).git("clone", "-q", remote.folder, ".");
    const there = openMachine(openRepository(folder), remote.folder);
    await there.at.git("config", "user.name", "O");
    await there.at.git("config", "user.email", "o@example.invalid");

    const slow = new GitRepository({ folder: here.at.folder, shared: here.shared });
    got(await slow.look(TARGET, base, quiet));
    await here.at.branch("slow", { "slow.txt": "x\n" });
    const members = [member("t.9", "slow")];
    const made = got(
      await slow.candidate({ run: RUN, onto: base, strategy: "merge-commit", members }, quiet),
    ) as { readonly commit: string };
    const fast = await landOne(there, base, "t.1");
    const landing = { target: TARGET, from: base, to: made.commit, proof: proofOf(...members) };
    const landed = got(await slow.land(landing, quiet));
    assert.deepEqual(landed, {
      is: "moved",
      tip: fast,
      landings: [{ commit: fast, members: [{ task: "t.1", attempt: 1 }] }],
    });
    assert.equal(await remote.git("rev-parse", TARGET), fast);
    assert.equal(await here.at.git("rev-parse", TARGET), fast);
    slow.close();
  });

  it("a landing whose coordinator died after the push is found by its proof", async () => {
    await using fleet = await makeFleet();
    const { here, base, remote } = fleet;
    const tip = await landOne(here, base, "t.1");
    await here.at.git("update-ref", `refs/heads/${TARGET}`, base);
    await here.at.git("update-ref", "-d", `refs/notes/skein/${RUN}`);
    const next = new GitRepository({ folder: here.at.folder, shared: here.shared });
    assert.deepEqual(got(await next.look(TARGET, base, quiet)), {
      tip,
      landings: [{ commit: tip, members: [{ task: "t.1", attempt: 1 }] }],
    });
    next.close();
    await remote.git("update-ref", "-d", `refs/heads/${TARGET}`);
    assert.match(failed(await next.look(TARGET, base, quiet)), /is not on the remote/);
    next.close();
  });
});

describe("a coordinator that takes over", () => {
  const NOTES = `refs/notes/skein/${RUN}`;

  /** Makes another clone of the remote, as on another machine. */
  async function otherMachine(url: string): Promise<Machine> {
    const at = openRepository(newFolder());
    await at.git("clone", "-q", url, ".");
    await at.git("config", "user.name", "O");
    await at.git("config", "user.email", "o@example.invalid");
    return openMachine(at, url);
  }

  for (const [when, landings] of [
    ["before the first landing", 0],
    ["after a landing", 1],
  ] as const)
    it(`keeps an older one from moving the target, ${when}, and lands itself`, async () => {
      await using fleet = await makeFleet();
      const { here, base, remote } = fleet;
      const tip = landings > 0 ? await landOne(here, base, "t.1") : base;
      assert.equal(await here.shared.fetch(TARGET, quiet), undefined);
      const to = await here.at.branch("late", { "late.txt": "x\n" }, { from: tip });
      const old = new GitRepository({ folder: here.at.folder, shared: here.shared });
      const there = await otherMachine(remote.folder);
      assert.equal(await there.shared.takeOver(TARGET, 2, quiet), undefined);

      const late = { target: TARGET, from: tip, to, proofs: to };
      assert.equal(await here.shared.move(late, quiet), "moved");
      const proof = proofOf(member("t.9", "late"));
      const landed = await old.land({ target: TARGET, from: tip, to, proof }, quiet);
      assert.match(failed(landed), /another coordinator \(lease 2\) has taken over/);
      old.close();
      assert.equal(await remote.git("rev-parse", TARGET), tip);

      const next = await landOne(there, tip, "t.2");
      assert.equal(await remote.git("rev-parse", TARGET), next);
      const notes = await there.at.git("log", "--format=%N", `--notes=skein/${RUN}`, TARGET);
      assert.equal(notes.match(/"task"/g)?.length, landings + 1);
      assert.equal(await remote.git("rev-parse", NOTES), await there.at.git("rev-parse", NOTES));
    });

  it("stops even a push of an older one that has reached the remote", async () => {
    await using fleet = await makeFleet();
    const { here, base, remote } = fleet;
    const to = await here.at.branch("late", { "late.txt": "x\n" });
    const [isThere, mayGoOn] = [makePipe(newFolder()), makePipe(newFolder())];
    const wait = `grep -q refs/heads/ && echo > '${isThere}' && read -r _ < '${mayGoOn}'; exit 0`;
    await mkdir(path.join(remote.folder, "hooks"), { recursive: true });
    await writeFile(path.join(remote.folder, "hooks/pre-receive"), `#!/bin/sh\n${wait}\n`, { mode: 0o755 });
    const moving = here.shared.move({ target: TARGET, from: base, to, proofs: to }, quiet);
    await firstLine(isThere, moving);
    const there = await otherMachine(remote.folder);
    assert.equal(await there.shared.takeOver(TARGET, 2, quiet), undefined);
    await writeFile(mayGoOn, "\n");
    assert.equal(await moving, "moved");
    assert.equal(await remote.git("rev-parse", TARGET), base);
  });

  it("says what the remote says when its rules forbid a push", async () => {
    await using fleet = await makeFleet();
    const { here, base, remote } = fleet;
    await mkdir(path.join(remote.folder, "hooks"), { recursive: true });
    const hook = "#!/bin/sh\necho 'no pushes today' >&2\nexit 1\n";
    await writeFile(path.join(remote.folder, "hooks/pre-receive"), hook, { mode: 0o755 });
    const pushed = await here.remote.push([{ ref: "refs/skein/fleet/r/x", to: base }], quiet);
    assert.match(failed(pushed as object), /the remote refuses a push: .*no pushes today/s);
  });

  it("takes over what an older one has landed in that moment", async () => {
    await using fleet = await makeFleet();
    const { here, base, remote } = fleet;
    const there = await otherMachine(remote.folder);
    const push = there.remote.push.bind(there.remote);
    let meanwhile: string | undefined;
    there.remote.push = async (...args) => {
      meanwhile ??= await landOne(here, base, "t.1");
      return push(...args);
    };
    assert.equal(await there.shared.takeOver(TARGET, 2, quiet), undefined);
    assert.equal(there.shared.tip, meanwhile);
    assert.equal(await there.at.git("rev-parse", TARGET), meanwhile);
    assert.match(failed((await here.shared.fetch(TARGET, quiet))!), /has taken over/);
  });

  it("gives way to a newer one, and goes on if an older one took over late", async () => {
    await using fleet = await makeFleet();
    const { here, base, remote } = fleet;
    const there = await otherMachine(remote.folder);
    assert.equal(await there.shared.takeOver(TARGET, 3, quiet), undefined);
    const late = await otherMachine(remote.folder);
    assert.equal(await late.shared.takeOver(TARGET, 2, quiet), undefined);
    await landOne(there, base, "t.1");
    assert.equal(await here.shared.takeOver(TARGET, 4, quiet), undefined);
    assert.match(failed((await there.shared.fetch(TARGET, quiet))!), /lease 4/);
  });
});

describe("a bundle", () => {
  const limits = { maxBytes: 10_000_000 };

  async function bundled(evil?: (work: ReturnType<typeof openRepository>) => Promise<void>) {
    const fleet = await makeFleet();
    const { here, base, mirror } = fleet;
    await mirror.fetch(got(await here.objects.offer("work:t.1#1", [base], quiet)), quiet);
    const commit = await madeIn(mirror, base, { "a.txt": "one\ntwo\n", "c.txt": "c\n" });
    await evil?.(openRepository(mirror.gitDir));
    const made = await openRepository(mirror.gitDir).git("rev-parse", "refs/heads/made");
    const wanted = { gitDir: mirror.gitDir, ref: "refs/heads/made", known: [base], ...limits };
    return { ...fleet, commit, made, wanted };
  }

  it("is taken with the one commit that was announced, and is on the remote for others", async () => {
    await using fleet = await bundled();
    const { here, base, commit, wanted, remote } = fleet;
    const bundle = got(await makeBundle(wanted, quiet));
    const ref = outputRef(RUN, "work:t.1#1", 0);
    const taken = await here.objects.take({ ref, commit, bundle, known: [base] }, ["refs/heads/got"], quiet);
    assert.equal(taken, undefined);
    assert.equal(await here.at.git("rev-parse", "got"), commit);
    assert.equal(await here.at.git("fsck", "--strict", "--connectivity-only", "got"), "");
    assert.equal(await remote.git("rev-parse", ref), commit);
    assert.match(failed(await makeBundle({ ...wanted, maxBytes: 10 }, quiet)), /more than a bundle may have/);
  });

  it("with a tree that has a .git entry, or with what was not announced, leaves nothing behind", async () => {
    await using fleet = await bundled(async (work) => {
      const blob = await work.git("rev-parse", "refs/heads/made:c.txt");
      const base = await work.git("rev-parse", "refs/heads/made^");
      const make = (args: readonly string[], input: string) =>
        execFileSync("git", args, { cwd: work.folder, input }).toString().trim();
      const tree = make(["mktree"], `100644 blob ${blob}\t.git\n`);
      const as = ["-c", "user.name=E", "-c", "user.email=e@example.invalid"];
      const evil = make([...as, "commit-tree", tree, "-p", base, "-m", "evil"], "");
      await work.git("update-ref", "refs/heads/made", evil);
    });
    const { here, base, commit, made, wanted } = fleet;
    const bundle = got(await makeBundle(wanted, quiet));
    const take = (of: string, bytes: Uint8Array) =>
      takeBundle({ gitDir: here.gitDir, commit: of, bundle: bytes, known: [base] }, quiet);
    assert.match(failed((await take(made, bundle))!), /hasDotgit|\.git/);
    assert.match(failed((await take(commit, bundle))!), /not taken/);
    assert.match(failed((await take(commit, Buffer.from("no bundle")))!), /not a bundle/);
    await assert.rejects(here.at.git("cat-file", "-e", made));
    const left = readdirSync(path.join(here.gitDir, "objects"));
    assert.deepEqual(
      left.filter((name) => name.startsWith("tmp_")),
      [],
    );
  });

  it("with more objects than its commit needs is refused", async () => {
    await using fleet = await bundled();
    const { here, base, commit, mirror } = fleet;
    const more = await madeIn(mirror, commit, { "d.txt": "hidden\n" });
    const wanted = { gitDir: mirror.gitDir, ref: "refs/heads/made", known: [base], ...limits };
    const bundle = got(await makeBundle(wanted, quiet));
    const taken = await takeBundle({ gitDir: here.gitDir, commit, bundle, known: [base] }, quiet);
    assert.match(failed(taken!), /3 objects that/);
    await assert.rejects(here.at.git("cat-file", "-e", more));
  });
});

describe("the address of a remote", () => {
  for (const url of ["/srv/a.git", "https://host/a.git", "ssh://git@host:22/a.git", "git@host:a/b.git"])
    it(`takes ${url}`, () => assert.equal(wrongRemote(url), undefined));
  for (const url of [
    "--upload-pack=evil",
    "ext::sh -c evil",
    "https://me:secret@host/a.git",
    "https://secret@host/a.git",
    "http://me:s@secret@host/a.git",
    "a\nb",
    "",
    "x::y",
  ])
    it(`refuses ${JSON.stringify(url)}`, () => {
      const why = wrongRemote(url);
      assert.ok(why);
      assert.doesNotMatch(why.failure.message, /secret/);
    });
});
