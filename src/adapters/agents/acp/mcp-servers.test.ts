/** Tests how MCP servers of `.mcp.json` are read and asked about, and which variables they get. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { readMcpServers, serverAsks } from "./mcp-servers.ts";

const read = (mcpServers: unknown, passed: Readonly<Record<string, string>> = {}) =>
  readMcpServers(JSON.stringify({ mcpServers }), passed);

describe("a repository's .mcp.json", () => {
  it("is asked about by what is started, whatever else an entry says, with its variables", () => {
    const words = (entry: object) => serverAsks(JSON.stringify({ mcpServers: { x: entry } }))[0]!.words;
    const both = { type: "stdio", command: "evil", url: "https://docs.example" };
    assert.equal(words(both), "the server x starts evil, as you");
    const preloaded = { command: "node", args: ["s.js"], env: { NODE_OPTIONS: "--require ./evil.js" } };
    assert.equal(words(preloaded), "the server x starts NODE_OPTIONS=--require ./evil.js node s.js, as you");
    assert.equal(words({ url: "https://docs.example" }), "the server x reaches https://docs.example");
  });

  it("names programs and addresses", () => {
    const { servers, problems } = read({
      docs: { command: "docs-mcp", args: ["--fast", 1], env: { LEVEL: "2" } },
      web: { type: "http", url: "https://example.org/mcp", headers: { Accept: "x" } },
      old: { type: "sse", url: "http://127.0.0.1:9/sse" },
      bare: { url: "https://example.org" },
    });
    assert.deepEqual(problems, []);
    assert.deepEqual(servers, [
      {
        type: "stdio",
        name: "docs",
        command: "docs-mcp",
        args: ["--fast", "1"],
        env: [{ name: "LEVEL", value: "2" }],
      },
      {
        type: "http",
        name: "web",
        url: "https://example.org/mcp",
        headers: [{ name: "Accept", value: "x" }],
      },
      { type: "sse", name: "old", url: "http://127.0.0.1:9/sse", headers: [] },
      { type: "http", name: "bare", url: "https://example.org", headers: [] },
    ]);
  });

  it("gets the variables that the user hands on, and no others", () => {
    const of = (name: string) => `$\{${name}}`;
    const entry = { command: "x", env: { A: `${of("KEY")}-${of("LEVEL:-7")}` }, args: [of("KEY")] };
    const { servers } = read({ x: entry }, { KEY: "k" });
    assert.deepEqual(servers, [
      { type: "stdio", name: "x", command: "x", args: ["k"], env: [{ name: "A", value: "k-7" }] },
    ]);
    const without = read({ x: entry, y: { command: "y" } });
    assert.deepEqual(without.problems, ['.mcp.json: x is left out: KEY is not passed on (see "pass")']);
    assert.deepEqual(
      without.servers.map(({ name }) => name),
      ["y"],
    );
    assert.equal(read({ x: { command: of("constructor") } }).servers.length, 0);
  });

  it("may hold anything: what is no server is left out, and said", () => {
    const bad = { a: 1, b: {}, c: { type: "carrier" }, d: { url: "ftp://x" }, e: { type: "http" }, f: null };
    const { servers, problems } = read(bad);
    assert.deepEqual(servers, []);
    assert.equal(problems.length, 6);
    for (const text of ["{", "[]", "null", '{"mcpServers": []}', '{"mcpServers": 7}', "x".repeat(300_000)]) {
      assert.deepEqual(readMcpServers(text, {}).servers, []);
    }
    assert.match(readMcpServers("{", {}).problems[0] ?? "", /not JSON/);
    const many = read(Object.fromEntries(Array.from({ length: 99 }, (_, n) => [`s${n}`, { command: "c" }])));
    assert.equal(many.servers.length, 50);
    assert.equal(many.problems.length, 1);
  });
});
