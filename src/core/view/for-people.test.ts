/** Tests that advice for agents is not shown to people. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { failure, forPeople } from "../failure.ts";

test("what an attempt is told to try is no advice for people; what a person can do is", () => {
  const red = failure("gate-red", "the gate is red with it", "make the gate pass on the current target");
  assert.deepEqual(forPeople(red), failure("gate-red", "the gate is red with it"));
  const disk = failure("repository", "the disk is full", "make room");
  assert.deepEqual(forPeople(disk), disk);
});
