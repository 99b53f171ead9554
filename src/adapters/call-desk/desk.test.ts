/** Tests that the call server takes one call of each job, and only from programs that may call. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { request } from "node:http";
import { connect, type Socket } from "node:net";
import { PassThrough } from "node:stream";
import { afterEach, beforeEach, describe, it } from "node:test";
import { setImmediate } from "node:timers/promises";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { bridge } from "./bridge.ts";
import { CallDesk, type CallPlace } from "./desk.ts";
import { sendCall } from "./send.ts";
import type { Call } from "./tools.ts";

describe("the desk where workers call", () => {
  let desk: CallDesk;
  let taken: Call[];
  let place: CallPlace;
  beforeEach(async () => {
    desk = new CallDesk();
    taken = [];
    place = await desk.open(async (call) => void taken.push(call));
  });
  afterEach(() => desk.close());

  type Sending = {
    readonly path?: string;
    readonly headers?: Readonly<Record<string, string>>;
    readonly body?: string;
  };
  const send = ({ path = "/call", headers = {}, body = CALL }: Sending) => {
    const { promise, resolve, reject } = Promise.withResolvers<{
      readonly status: number;
      readonly text: string;
    }>();
    const authorization = `Bearer ${place.token}`;
    const sending = request(new URL(path, place.url), {
      method: "POST",
      headers: { authorization, "content-type": "application/json", ...headers },
    });
    sending.on("error", reject);
    sending.on("response", async (response) => {
      const text = (await Array.fromAsync(response.setEncoding("utf8") as AsyncIterable<string>)).join("");
      resolve({ status: response.statusCode ?? 0, text });
    });
    sending.end(body);
    return promise;
  };
  const input = { question: "blue or green?" };
  const CALL = JSON.stringify({ tool: "ask", input });
  const environment = () => ({ SKEIN_CALL_URL: place.url, SKEIN_CALL_TOKEN: place.token });

  it("takes a call and says what to do now", async () => {
    const sent = await sendCall({ tool: "ask", input }, environment());
    assert.equal(sent.is, "taken");
    assert.match(sent.is === "taken" ? sent.message : "", /End your turn now/);
    assert.deepEqual(taken, [{ tool: "ask", input }]);
  });

  it("refuses the second call, also at the same time", async () => {
    const both = await Promise.all([send({}), send({})]);
    assert.deepEqual(both.map(({ status }) => status).sort(), [200, 409]);
    const third = await sendCall({ tool: "spawn_subtask", input: {} }, environment());
    assert.equal(third.is, "refused");
    assert.match(third.is === "refused" ? third.message : "", /has called ask already/);
    assert.equal(taken.length, 1);
  });

  it("takes none that could not be kept, and another after that", async () => {
    let isFull = true;
    const full = await desk.open(async () => {
      if (isFull) throw new Error("no space left");
    });
    const at = { SKEIN_CALL_URL: full.url, SKEIN_CALL_TOKEN: full.token };
    const sent = await sendCall({ tool: "ask", input }, at);
    assert.match(sent.is === "refused" ? sent.message : "", /could not be kept: no space left/);
    isFull = false;
    assert.equal((await sendCall({ tool: "ask", input }, at)).is, "taken");
  });

  it("knows the token of a turn for as long as that lasts, and no other", async () => {
    assert.equal((await send({ headers: { authorization: `Bearer ${place.token}x` } })).status, 401);
    assert.equal((await send({ headers: { authorization: "Basic eDp5" } })).status, 401);
    assert.equal((await send({ path: "/mcp", headers: { authorization: "Bearer " } })).status, 401);
    place.close();
    const { status, text } = await send({});
    assert.equal(status, 401);
    assert.match(text, /its turn is over/);
    assert.deepEqual(taken, []);
  });

  it("refuses what does not come from a program on this machine", async () => {
    assert.equal((await send({ headers: { host: "evil.example" } })).status, 403);
    assert.equal((await send({ headers: { origin: "http://evil.example" } })).status, 403);
    assert.equal((await send({ path: "/mcp", headers: { host: "evil.example" } })).status, 403);
    assert.deepEqual(taken, []);
  });

  it("answers although hundreds of connections were opened that ask nothing", async () => {
    const { port } = new URL(place.url);
    const open = await Promise.all(
      Array.from({ length: 400 }, () => {
        const { promise, resolve } = Promise.withResolvers<Socket>();
        const socket = connect(Number(port), "127.0.0.1", () => resolve(socket.on("error", () => {})));
        return promise;
      }),
    );
    try {
      assert.equal((await send({})).status, 200);
    } finally {
      for (const socket of open) socket.destroy();
    }
  });

  it("refuses what is no call", async () => {
    const bodies = [
      "",
      "garbage",
      "null",
      "[]",
      '{"tool":"rm"}',
      '{"tool":"ask","input":"x"}',
      '{"tool":"ask"}',
    ];
    for (const body of bodies) assert.equal((await send({ body })).status, 400, body);
    assert.equal((await send({ path: "/other" })).status, 404);
    for (const body of ["garbage", "[]", '{"jsonrpc":"2.0"}']) {
      const { status } = await send({ path: "/mcp", body });
      assert.ok(status >= 400 && status < 500, `${body}: ${status}`);
    }
    assert.deepEqual(taken, []);
  });

  it("refuses a body of 10 MB, in words", async () => {
    const body = JSON.stringify({ tool: "ask", input: { question: "x".repeat(10_000_000) } });
    for (const path of ["/call", "/mcp"]) {
      const { status, text } = await send({ path, body });
      assert.equal(status, 413);
      assert.match(text, /at most 1000000 bytes/);
    }
    assert.deepEqual(taken, []);
  });

  it("limits a body whose length is not told as well, and takes one that is short enough", async () => {
    const headers = { "transfer-encoding": "chunked" };
    const body = JSON.stringify({ tool: "ask", input: { question: "x".repeat(2_000_000) } });
    for (const path of ["/call", "/mcp"]) assert.equal((await send({ path, headers, body })).status, 413);
    assert.equal((await send({ headers })).status, 200);
    assert.deepEqual(taken, [{ tool: "ask", input }]);
  });

  it("takes no call whose turn ends while it is being sent", async () => {
    const { port, host } = new URL(place.url);
    const socket = connect(Number(port), "127.0.0.1");
    const head = [
      "POST /call HTTP/1.1",
      `Host: ${host}`,
      `Authorization: Bearer ${place.token}`,
      "Connection: close",
      "Expect: 100-continue",
      `Content-Length: ${CALL.length}`,
    ];
    socket.write(`${head.join("\r\n")}\r\n\r\n`);
    const [goOn] = (await once(socket, "data")) as [Buffer];
    assert.match(`${goOn}`, /100 Continue/);
    await setImmediate(); // It has been admitted.
    place.close();
    socket.write(CALL);
    const answer = `${await Array.fromAsync(socket as AsyncIterable<Buffer>)}`;
    assert.match(answer, /401 Unauthorized.*its turn is over/s);
    assert.deepEqual(taken, []);
  });

  it("refuses a body that is nested too deeply to be read", async () => {
    const body = `{"tool":"ask","input":${'{"a":'.repeat(300)}1${"}".repeat(301)}`;
    for (const path of ["/call", "/mcp"]) {
      const { status, text } = await send({ path, body });
      assert.deepEqual([status, JSON.parse(text)], [400, { error: "it is nested too deeply" }]);
    }
  });

  it("leaves the process's own Request and Response as they are", async () => {
    const own = [globalThis.Request, globalThis.Response];
    assert.equal((await send({})).status, 200);
    assert.deepEqual([globalThis.Request, globalThis.Response], own);
  });

  it("serves the same two tools by MCP, and says when they were listed", async () => {
    const client = new Client({ name: "test", version: "1" });
    const headers = { authorization: `Bearer ${place.token}` };
    await client.connect(
      new StreamableHTTPClientTransport(new URL("/mcp", place.url), { requestInit: { headers } }),
    );
    const { tools } = await client.listTools();
    await place.listed;
    assert.deepEqual(
      tools.map(({ name, _meta }) => [name, _meta?.["anthropic/alwaysLoad"]]),
      [
        ["spawn_subtask", true],
        ["ask", true],
      ],
    );
    const wish = { type: "verification", description: "check it", odd: 1 };
    const first = await client.callTool({ name: "spawn_subtask", arguments: wish });
    assert.equal(first.isError, undefined);
    assert.match(JSON.stringify(first.content), /End your turn now/);
    const second = await client.callTool({ name: "ask", arguments: input });
    assert.equal(second.isError, true);
    assert.deepEqual(taken, [{ tool: "spawn_subtask", input: wish }]);
    await client.close();
  });

  it("can be reached by MCP over the streams of a program", async () => {
    const [input, output] = [new PassThrough(), new PassThrough()];
    const over = bridge({ input, output, environment: environment() });
    const lines = output.setEncoding("utf8")[Symbol.asyncIterator]() as AsyncIterator<string>;
    const ask = async (id: number, method: string, params: object) => {
      input.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`);
      const { value } = (await lines.next()) as { readonly value: string };
      return JSON.parse(value) as { readonly result: Readonly<Record<string, unknown>> };
    };
    const clientInfo = { name: "test", version: "1" };
    await ask(1, "initialize", { protocolVersion: "2025-11-25", capabilities: {}, clientInfo });
    input.write(`${JSON.stringify({ jsonrpc: "2.0", method: "notifications/initialized" })}\n`);
    await ask(2, "tools/list", {});
    await place.listed;
    const { result } = await ask(3, "tools/call", { name: "ask", arguments: { question: "why?" } });
    assert.match(JSON.stringify(result), /End your turn now/);
    assert.deepEqual(taken, [{ tool: "ask", input: { question: "why?" } }]);
    input.end();
    await over;
  });

  it("is not there outside of a job, nor after the run", async () => {
    assert.equal((await sendCall({ tool: "ask", input }, {})).is, "outside");
    await desk.close();
    assert.equal((await sendCall({ tool: "ask", input }, environment())).is, "unreached");
    await assert.rejects(
      desk.open(async () => {}),
      /the run is over/,
    );
  });
});
