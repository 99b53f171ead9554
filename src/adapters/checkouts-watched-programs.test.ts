/** Tests that changes which gate commands make in the user's checkout are reported. */
import assert from "node:assert/strict";
import { it } from "node:test";
import { failure } from "../core/failure.ts";
import type { JobId } from "../core/job.ts";
import type { Look } from "../ports/checkout.ts";
import type { Program, Programs } from "../ports/programs.ts";
import { WatchedPrograms } from "./checkouts.ts";

const NEVER = new AbortController().signal;
const limits = { maxMs: 1, maxOutputBytes: 1, maxFileBytes: 1 };
const program = (job: string): Program => ({
  job: job as JobId,
  command: ["x"],
  folder: "/",
  environment: {},
  limits,
});

it("tells what a command changed in the checkout, and looks once between two commands of one gate", async () => {
  let head = 1;
  let looks = 0;
  const told: unknown[] = [];
  const programs: Programs = {
    run: async () => {
      head += 1;
      return { is: "exited", code: 0, output: "", errors: "", tail: "" };
    },
    endLeftovers: async () => 0,
  };
  const look = async (): Promise<Look> => {
    looks += 1;
    return new Map([["HEAD", String(head)]]);
  };
  const watched = new WatchedPrograms({ programs, checkout: { look }, tell: (...what) => told.push(what) });
  await watched.run(program("land#1"), NEVER);
  await watched.run(program("land#1"), NEVER);
  assert.equal(looks, 3);
  await watched.run(program("check#2"), NEVER);
  assert.equal(looks, 5, "another job's look may be old");
  assert.deepEqual(told, [
    ["land#1", ["HEAD"]],
    ["land#1", ["HEAD"]],
    ["check#2", ["HEAD"]],
  ]);
});

it("says nothing of a checkout that cannot be looked at, and the command's end all the same", async () => {
  const end = { is: "exited", code: 1, output: "", errors: "", tail: "" } as const;
  const programs: Programs = { run: async () => end, endLeftovers: async () => 0 };
  const checkout = { look: async () => ({ failure: failure("repository", "no") }) };
  const watched = new WatchedPrograms({ programs, checkout, tell: () => assert.fail("told") });
  assert.deepEqual(await watched.run(program("land#1"), NEVER), end);
});
