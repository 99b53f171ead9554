/** Tests the run kit: it sends no secret of an MCP server to the database, and agents in it can be started. */
import assert from "node:assert/strict";
import { statSync, writeFileSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { newFolder } from "../../../test/support/folders.ts";
import { type RunKit, readKitFiles, unpackKit } from "./run-kit.ts";

const NAMED = `$${"{KEY}"}`;

test("no value of a variable or a header of an MCP server goes to the database, only names of variables", async () => {
  const top = newFolder();
  const docs = { command: "docs", env: { KEY: "k-1", NAMED: NAMED, ELSE: `${NAMED.slice(0, -1)}:-k-2}` } };
  const web = { url: "https://x.invalid", headers: { "X-Key": "k-3", Authorization: `Bearer ${NAMED}` } };
  writeFileSync(path.join(top, ".mcp.json"), JSON.stringify({ mcpServers: { docs, web } }));
  const [file] = await readKitFiles({ top });
  assert.deepEqual(JSON.parse(file!.text), {
    mcpServers: {
      docs: { ...docs, env: { NAMED: NAMED } },
      web: { ...web, headers: { Authorization: `Bearer ${NAMED}` } },
    },
  });
});

test("an agent that is a file of the repository is there on the worker, and can be started", async () => {
  const [top, folder] = [newFolder(), path.join(newFolder(), "kit")];
  writeFileSync(path.join(top, "agent.sh"), "#!/bin/sh\n");
  const files = await readKitFiles({ top, programs: ["./agent.sh", "gone.sh"] });
  await unpackKit({ files } as RunKit, folder);
  assert.equal(statSync(path.join(folder, "agent.sh")).mode & 0o777, 0o700);
});
