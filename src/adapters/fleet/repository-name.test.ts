/** Tests that all addresses of a repository give one name, without credentials. */
import assert from "node:assert/strict";
import { it } from "node:test";
import { hasFailed } from "../../core/result.ts";
import { repositoryName } from "./repository-name.ts";

it("a repository has one name, however it is reached, and no key in it", async () => {
  const nameOf = async (address: string) => {
    const found = await repositoryName("/", address, new AbortController().signal);
    return hasFailed(found) ? found.failure.message : found.name;
  };
  const ways = [
    "https://host.example/a/b.git",
    "https://me:secret@Host.example:8443/a/b",
    "ssh://git@host.example:22/a/b.git",
    "git@host.example:a/b.git",
    "host.example:a/b/",
  ];
  assert.deepEqual(new Set(await Promise.all(ways.map(nameOf))), new Set(["host.example/a/b"]));
  assert.equal(await nameOf("/srv/git/b.git"), "/srv/git/b");
  assert.equal(await nameOf("file:///srv/git/b.git"), "/srv/git/b");
  assert.notEqual(await nameOf("git@host.example:a/c"), await nameOf("git@host.example:a/b"));
});
