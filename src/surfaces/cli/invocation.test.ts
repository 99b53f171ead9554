import assert from "node:assert/strict";
import { test } from "node:test";
import { invocationOf } from "./invocation.ts";

test("a command that the shell finds is called by its name, any other by its path", () => {
  assert.equal(invocationOf("/usr/local/bin/skein", "/bin:/usr/local/bin/"), "skein");
  assert.equal(invocationOf("/home/me/skein/bin/skein", "/bin:/usr/bin"), "/home/me/skein/bin/skein");
  assert.equal(invocationOf("/my tools/bin/skein", "/bin"), "'/my tools/bin/skein'");
});

test("what npm adds to the PATH of its scripts is not there afterwards", () => {
  const file = "/p/node_modules/.bin/skein";
  assert.equal(invocationOf(file, "/p/node_modules/.bin:/bin"), file);
});

test("who was started by something else is called by the name", () => {
  assert.equal(invocationOf("/p/some.test.ts", "/bin"), "skein");
  assert.equal(invocationOf(undefined), "skein");
});
