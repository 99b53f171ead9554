/** Tests the delivery of a target to the user's branch: checked out or not, moved, conflicting, without proof. */
import assert from "node:assert/strict";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { describe, it } from "node:test";
import {
  failed,
  got,
  makeWorld,
  member,
  proofOf,
  quiet,
  RUN,
  TARGET,
} from "../../../test/contracts/repository.ts";
import type { DeliveryWanted } from "../../ports/delivery.ts";
import { deliveryIn } from "./deliver.ts";
import { GitRepository } from "./git.ts";

type Order = DeliveryWanted & { readonly folder: string };

const deliver = ({ folder, ...wanted }: Order, signal: AbortSignal) =>
  deliveryIn(folder).bring(wanted, signal);
const mergeBase = ({ folder, ...wanted }: Order, signal: AbortSignal) =>
  deliveryIn(folder).mergeBase(wanted, signal);

const open = (folder: string) => new GitRepository({ folder });

/** Makes one landing on the target; main is where it was, and checked out unless told otherwise. */
async function landedWorld(isCheckedOut = true) {
  const world = await makeWorld(open);
  await world.at.branch("work", { "b.txt": "b\n" });
  const landed = await world.landOn([member("t.1", "work")]);
  if (!isCheckedOut) await world.at.git("checkout", "-q", "--detach");
  const order = {
    folder: world.at.folder,
    baseBranch: "main",
    run: RUN,
    target: TARGET,
    since: world.base,
    intoCheckout: false,
    filters: [],
  };
  return { ...world, landed, order };
}

describe("deliver", () => {
  it("moves a branch that nobody has checked out, and no file", async () => {
    await using world = await landedWorld(false);
    const { at, base, landed, order } = world;
    assert.deepEqual(await deliver(order, quiet), { is: "delivered", from: base, to: landed });
    assert.equal(await at.git("rev-parse", "main"), landed);
    assert.equal(await at.git("rev-parse", "HEAD"), base);
    assert.equal(await at.git("status", "--porcelain"), "");
    assert.deepEqual(await deliver(order, quiet), { is: "nothing-new", base: landed });
  });

  it("does not touch a branch that is checked out unless it is asked to", async () => {
    await using world = await landedWorld();
    const { at, base, order } = world;
    const answer = got(await deliver(order, quiet));
    assert.deepEqual({ ...answer, where: "" }, { is: "checked-out", where: "", why: "not-asked" });
    assert.equal(await at.git("rev-parse", "main"), base);
  });

  it("moves a clean checkout along when asked, and leaves untracked files", async () => {
    await using world = await landedWorld();
    const { at, base, landed, order } = world;
    await at.write({ "notes.txt": "mine\n" });
    const answer = await deliver({ ...order, intoCheckout: true }, quiet);
    assert.deepEqual(answer, { is: "delivered", from: base, to: landed });
    assert.equal(await at.git("symbolic-ref", "HEAD"), "refs/heads/main");
    assert.equal(await at.git("status", "--porcelain"), "?? notes.txt");
    assert.equal(await at.git("ls-files"), "a.txt\nb.txt");
  });

  it("leaves a checkout with changes alone, staged or not, and what it would overwrite", async () => {
    await using world = await landedWorld();
    const { at, base, order } = world;
    const asked = { ...order, intoCheckout: true };
    await at.write({ "a.txt": "mine\n" });
    for (const stage of [false, true]) {
      if (stage) await at.git("add", "a.txt");
      const answer = got(await deliver(asked, quiet));
      assert.deepEqual({ ...answer, where: "" }, { is: "checked-out", where: "", why: "not-clean" });
    }
    await at.git("reset", "-q", "--hard");
    await at.write({ "b.txt": "mine, and not tracked\n" });
    assert.match(failed(await deliver(asked, quiet)), /overwritten/);
    assert.equal(await at.git("rev-parse", "main"), base);
    assert.equal(await at.git("status", "--porcelain"), "?? b.txt");
  });

  it("sees the branch in another work tree, but not in one that is gone", async () => {
    await using world = await landedWorld(false);
    const { at, base, landed, order } = world;
    const tree = join(at.folder, "..", "other tree");
    await at.git("worktree", "add", "-q", tree, "main");
    const answer = got(await deliver(order, quiet));
    assert.equal(answer.is === "checked-out" && answer.where.endsWith("other tree"), true);
    assert.equal(await at.git("rev-parse", "main"), base);
    await rm(tree, { recursive: true });
    assert.deepEqual(await deliver(order, quiet), { is: "delivered", from: base, to: landed });
  });

  it("goes forwards only: a base that moved is merged into the target, landed, then delivered", async () => {
    await using world = await landedWorld();
    const { at, landed, order, repository } = world;
    const base = await at.commit({ "c.txt": "the user's own\n" });
    await at.git("checkout", "-q", "--detach");
    assert.deepEqual(await deliver(order, quiet), { is: "base-moved", base, target: landed });
    assert.equal(await at.git("rev-parse", "main"), base);

    const merged = got(await mergeBase({ ...order, run: RUN }, quiet));
    assert.ok(merged.is === "candidate");
    assert.equal(merged.onto, landed);
    assert.equal(await at.git("log", "-1", "--format=%P", merged.commit), `${landed} ${base}`);
    const landing = { target: TARGET, from: landed, to: merged.commit, proof: proofOf() };
    assert.deepEqual(await repository.land(landing, quiet), { is: "landed" });
    assert.deepEqual(await deliver(order, quiet), { is: "delivered", from: base, to: merged.commit });
    assert.equal(await at.git("ls-tree", "--name-only", "main"), "a.txt\nb.txt\nc.txt");
  });

  it("does not deliver what somebody put on the target by hand, below a landing or on top, and names it", async () => {
    await using world = await landedWorld(false);
    const { at, base, landed, order } = world;
    const byHand = await at.git("commit-tree", "-p", landed, "-m", "by hand", `${landed}^{tree}`);
    await at.git("update-ref", `refs/heads/${TARGET}`, byHand);
    assert.match(failed(await deliver(order, quiet)), new RegExp(`${byHand} on ${TARGET} has no proof`));
    await at.branch("more", { "c.txt": "c\n" });
    await world.landOn([member("t.2", "more")]);
    assert.match(failed(await deliver(order, quiet)), new RegExp(`${byHand} on ${TARGET} has no proof`));
    assert.match(failed(await deliver({ ...order, run: "r2" }, quiet)), /has no proof/);
    assert.equal(await at.git("rev-parse", "main"), base);
    await at.git("update-ref", `refs/heads/${TARGET}`, landed);
    assert.deepEqual(await deliver(order, quiet), { is: "delivered", from: base, to: landed });
  });

  it("knows the proof of a landing of several commits by its last one", async () => {
    await using world = await makeWorld(open);
    const { at, base } = world;
    await at.git("checkout", "-q", "-b", "work");
    for (const name of ["1", "2", "3"]) await at.commit({ [`${name}.txt`]: "x\n" });
    await at.git("checkout", "-q", "--detach", base);
    await at.branch("other", { "o.txt": "x\n" });
    await world.landOn([member("t.1", "other")], { strategy: "rebase" });
    const to = await world.landOn([member("t.2", "work")], { strategy: "rebase" });
    assert.equal(await at.git("rev-list", "--count", `${base}..${to}`), "4");
    const order = { folder: at.folder, baseBranch: "main", run: RUN, target: TARGET, since: base };
    const answer = await deliver({ ...order, intoCheckout: false, filters: [] }, quiet);
    assert.deepEqual(answer, { is: "delivered", from: base, to });
  });

  it("says where a base that moved conflicts", async () => {
    await using world = await landedWorld();
    await world.at.commit({ "b.txt": "the user's own\n" });
    const merged = await mergeBase({ ...world.order, run: RUN }, quiet);
    assert.deepEqual(merged, { is: "conflict", files: ["b.txt"] });
  });

  it("refuses names that are none, and branches that are not there", async () => {
    await using world = await landedWorld();
    assert.match(
      failed(await deliver({ ...world.order, baseBranch: "--force" }, quiet)),
      /no name of a branch/,
    );
    const gone = await deliver({ ...world.order, baseBranch: "gone" }, quiet);
    assert.match(failed(gone), /gone is not there/);
    assert.match("failure" in gone ? (gone.failure.next ?? "") : "", /--branch <name>/);
    assert.match(failed(await deliver({ ...world.order, target: "gone" }, quiet)), /gone is not there/);
  });
});
