/** Tests that a run's spans reach a collector, live and afterwards, as one tree with the report's token sums. */
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import path from "node:path";
import { describe, it } from "node:test";
import { ATTRIBUTE, CONVENTIONS, OPERATION, OWN_SPAN } from "../../src/core/view/trace-names.ts";
import { type ReceivedSpan, readOtlp, startReceiver } from "../support/otlp-receiver.ts";
import { SETS } from "./model-lives.ts";
import { type ModelPlace, makeModelPlace } from "./model-place.ts";
import { calls, delegates, handsOff, playsMoves, writes } from "./subtask-moves.ts";

const SECRET = "sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789-AAAAAAAA";

/** A worker with tools, one of which fails, with a subtask, and with a secret in the input of one tool call. */
const MOVES = {
  "work:t.1#1 1": writes("a.txt"),
  "work:t.1#1 2": calls("read", { path: "nowhere.txt" }),
  "work:t.1#1 3": delegates(),
  "work:t.1.1#1 1": calls("bash", { command: `echo ${SECRET}` }),
  "work:t.1.1#1 2": writes("b.txt"),
  "work:t.1.1#1 3": handsOff("b.txt is there"),
  "work:t.1#2 1": handsOff("both are there"),
};

type Message = { readonly parts: readonly Readonly<Record<string, unknown>>[] };

const HEADER = "a-key-of-the-collector";

const madePlace = () =>
  makeModelPlace({
    answer: playsMoves(MOVES),
    sets: { ...SETS, gate: '["test -e README.md"]' },
  });

const variables = (url: string, more: object = {}) => ({
  OTEL_EXPORTER_OTLP_ENDPOINT: url,
  OTEL_EXPORTER_OTLP_HEADERS: `x-collector-key=${HEADER}`,
  OTEL_SERVICE_NAME: "my-skein",
  ...more,
});

async function runTraced(place: ModelPlace, env: Readonly<Record<string, string>>) {
  const { skein } = place.with({ env });
  const ended = { ...(await skein("run", "write two files", ...place.settings)), at: Date.now() };
  assert.equal(ended.code, 0, ended.out + ended.err);
  const report = JSON.parse((await skein("report", "--json")).out);
  return {
    skein,
    ended,
    report: report as { readonly run: string; readonly spent: { readonly tokens: number } },
  };
}

/** There is one root span, every parent exists, and each child lies within its parent's time. */
function checkTree(spans: readonly ReceivedSpan[]): ReceivedSpan {
  assert.equal(new Set(spans.map(({ traceId }) => traceId)).size, 1, "one trace");
  const byId = new Map(spans.map((span) => [span.spanId, span]));
  assert.equal(byId.size, spans.length, "no id twice");
  const roots = spans.filter(({ parentSpanId }) => parentSpanId === undefined);
  assert.deepEqual(
    roots.map(({ name }) => name),
    ["invoke_workflow skein"],
  );
  for (const { name, parentSpanId, startTimeUnixNano, endTimeUnixNano, links = [] } of spans) {
    assert.ok(startTimeUnixNano <= endTimeUnixNano, name);
    for (const { spanId } of links) assert.ok(byId.has(spanId), `${name} links to a span that is there`);
    if (parentSpanId === undefined) continue;
    const parent = byId.get(parentSpanId);
    assert.ok(parent, `${name} has a parent`);
    const [begun, ended] = [
      nanosBetween(parent.startTimeUnixNano, startTimeUnixNano),
      nanosBetween(endTimeUnixNano, parent.endTimeUnixNano),
    ];
    assert.ok(begun >= -APART_NANOS, `${name} begins in ${parent.name}`);
    assert.ok(ended >= -APART_NANOS, `${name} ends in ${parent.name}`);
  }
  return roots[0]!;
}

const nanosBetween = (from: string, to: string): bigint => BigInt(to) - BigInt(from);

/** The run's own time and the machine's clock may differ by one second before that counts as a jump. */
const APART_NANOS = 1_000_000_000n;

const sum = (spans: readonly ReceivedSpan[], name: string): number =>
  spans.reduce((all, { attributes }) => all + Number(attributes[name] ?? 0), 0);

const countOf = (spans: readonly ReceivedSpan[]) =>
  Object.fromEntries(
    Object.entries(Object.groupBy(spans, ({ name }) => name)).map(([name, all]) => [name, all!.length]),
  );

const childrenOf = (spans: readonly ReceivedSpan[], { spanId }: ReceivedSpan) =>
  spans.filter(({ parentSpanId }) => parentSpanId === spanId);

const sorted = (spans: readonly ReceivedSpan[]) => spans.toSorted((a, b) => a.spanId.localeCompare(b.spanId));

describe("the spans of a run", { concurrency: 2, timeout: 120_000 }, () => {
  it("reach a collector while it goes on, in one tree, with the report's tokens", async () => {
    await using receiver = await startReceiver();
    await using place = await madePlace();
    const { report, ended, skein } = await runTraced(place, variables(receiver.url));
    const { spans } = receiver;
    const root = checkTree(spans);
    const timed: ReadonlySet<string> = new Set([OWN_SPAN.check, OWN_SPAN.gate, OWN_SPAN.command]);
    assert.deepEqual(countOf(spans.filter(({ name }) => !timed.has(name))), {
      "invoke_workflow skein": 1,
      "plan planner": 2,
      "invoke_agent worker": 3,
      "chat scripted-1": 9,
      "execute_tool write": 2,
      "execute_tool read": 1,
      "execute_tool bash": 1,
      "skein.landing": 1,
    });
    const landing = spans.find(({ name }) => name === "skein.landing")!;
    assert.deepEqual(landing.attributes["skein.landing.tasks"], ["t.1"]);
    assert.equal(landing.attributes["skein.landing.proof"], "green");
    const [gate, ...moreGates] = childrenOf(spans, landing);
    assert.deepEqual([gate?.name, gate?.attributes["skein.gate.green"], moreGates], ["skein.gate", true, []]);
    const [command] = childrenOf(spans, gate!);
    assert.equal(command?.attributes["skein.gate.command"], "test -e README.md");
    const chats = spans.filter(({ name }) => name.startsWith("chat "));
    const tokens = sum(chats, "gen_ai.usage.input_tokens") + sum(chats, "gen_ai.usage.output_tokens");
    assert.equal(tokens, report.spent.tokens);
    assert.ok(tokens > 0);
    const others = spans.filter((span) => !chats.includes(span));
    assert.equal(
      sum(others, "gen_ai.usage.input_tokens") + sum(others, ATTRIBUTE.tokens),
      0,
      "no token twice",
    );
    checkNames(spans);
    assert.equal(root.attributes["skein.run.id"], report.run);
    for (const { headers } of receiver.requests) assert.equal(headers["x-collector-key"], HEADER);
    assert.ok(!`${ended.out}${ended.err}`.includes(HEADER));

    const again = await skein("trace", "--json");
    assert.equal(again.code, 0, again.err);
    assert.deepEqual(sorted(readOtlp(JSON.parse(again.out))), sorted(spans), "the log gives the same spans");
    const file = path.join(place.folder, "trace.json");
    assert.equal((await skein("trace", report.run, "--out", file)).code, 0);
    assert.deepEqual(JSON.parse(await readFile(file, "utf8")), JSON.parse(again.out));

    await using second = await startReceiver();
    const zipped = variables(second.url, {
      OTEL_EXPORTER_OTLP_COMPRESSION: "gzip",
      OTEL_BSP_MAX_EXPORT_BATCH_SIZE: "5",
    });
    const sent = await place.with({ env: zipped }).skein("trace", report.run);
    assert.equal(sent.code, 0, sent.err);
    assert.match(sent.out, new RegExp(`^${spans.length} spans of run ${report.run} are at ${second.url}\n$`));
    assert.deepEqual(sorted(second.spans), sorted(spans));
    assert.equal(second.requests.length, Math.ceil(spans.length / 5));
    assert.doesNotMatch(JSON.stringify(spans), /messages|arguments|call\.result|write two files|nowhere/);
  });

  it("hold what was said only if that is asked for, and then without secrets", async () => {
    await using receiver = await startReceiver();
    await using place = await madePlace();
    const env = variables(receiver.url, { OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT: "true" });
    const { skein } = await runTraced(place, env);
    const { spans } = receiver;
    const text = JSON.stringify(spans);
    assert.ok(!text.includes(SECRET));
    const root = checkTree(spans);
    assert.match(String(root.attributes["gen_ai.input.messages"]), /"content":"write two files"/);
    const bash = spans.find(({ name }) => name === "execute_tool bash")!;
    assert.match(String(bash.attributes["gen_ai.tool.call.arguments"]), /^\{"command":"echo .*redacted/);
    assert.match(String(bash.attributes["gen_ai.tool.call.result"]), /redacted/);
    const read = spans.find(({ name }) => name === "execute_tool read")!;
    assert.equal(read.attributes["gen_ai.tool.call.arguments"], '{"path":"nowhere.txt"}');
    const goesOn = spans.find(({ attributes }) => attributes["skein.job.id"] === "work:t.1#2")!;
    const [chat] = childrenOf(spans, goesOn);
    const said = JSON.parse(String(chat?.attributes["gen_ai.output.messages"])) as Message[];
    assert.deepEqual(said[0]?.parts.at(-1)?.["arguments"], { status: "complete", summary: "both are there" });
    const told = JSON.parse(String(chat?.attributes["gen_ai.input.messages"])) as Message[];
    assert.doesNotMatch(JSON.stringify(told), /nowhere/, "only what is new");
    for (const { name, attributes } of spans)
      if (/^(?:chat|plan|invoke_agent)/.test(name))
        for (const side of ["input", "output"])
          assert.match(String(attributes[`gen_ai.${side}.messages`]), /^\[\{"role":/, `${name} ${side}`);
    assert.deepEqual(sorted(readOtlp(JSON.parse((await skein("trace", "--json")).out))), sorted(spans));
  });

  it("cost a run nothing where the collector is gone, silent or refuses, which is said once", async () => {
    await using silent = await startReceiver("silence");
    const gone = await startReceiver();
    await gone[Symbol.asyncDispose]();
    const soon = { OTEL_BSP_SCHEDULE_DELAY: "50" };
    for (const [url, why] of [
      [gone.url, /it cannot be reached \(ECONNREFUSED\)/],
      [silent.url, /it did not answer in time/],
    ] as const) {
      await using place = await madePlace();
      const { ended, report } = await runTraced(place, variables(url, soon));
      const said = `${ended.out}${ended.err}`
        .split("\n")
        .filter((line) => line.includes("traces are not sent"));
      assert.equal(said.length, 1, said.join("\n"));
      assert.match(said[0]!, why);
      assert.match(said[0]!, new RegExp(`skein trace ${report.run}`));
      assert.ok(!`${ended.out}${ended.err}`.includes(HEADER));
      const closed = (await place.events()).at(-1)!;
      assert.ok(ended.at - closed.at < 6_000, "two seconds at most, of which the engine knows nothing");
      await using refusing = await startReceiver(401);
      const sent = await place.with({ env: variables(refusing.url) }).skein("trace");
      assert.equal(sent.code, 1);
      assert.match(sent.err, /were not sent to \S+: it answered with status 401/);
      assert.ok(!sent.err.includes(HEADER));
    }
  });

  it("are neither made nor sent without a variable that asks for them", async () => {
    await using receiver = await startReceiver();
    await using place = await madePlace();
    const off = { OTEL_SDK_DISABLED: "true" };
    await runTraced(place, variables(receiver.url, off));
    for (const variable of [off, { OTEL_TRACES_EXPORTER: "none" }, { OTEL_EXPORTER_OTLP_ENDPOINT: "" }]) {
      const { skein } = place.with({ env: variables(receiver.url, variable) });
      const sent = await skein("trace");
      assert.equal(sent.code, 3, sent.out);
      assert.match(sent.err, /no collector is configured[\s\S]*try: set OTEL_EXPORTER_OTLP_ENDPOINT/);
    }
    assert.deepEqual(receiver.requests, []);
  });
});

/** Every attribute is in the table, and each kind of span has the attributes that the conventions require. */
function checkNames(spans: readonly ReceivedSpan[]): void {
  const known = new Set<string>(Object.values(ATTRIBUTE));
  const operations = new Set<unknown>();
  for (const { name, kind, attributes, schemaUrl, resource } of spans) {
    assert.equal(schemaUrl, `https://opentelemetry.io/schemas/gen-ai/${CONVENTIONS.version}`);
    assert.equal(resource["service.name"], "my-skein");
    for (const key of Object.keys(attributes)) assert.ok(known.has(key), key);
    const operation = attributes["gen_ai.operation.name"];
    operations.add(operation);
    if (operation === undefined) assert.match(name, /^skein\./);
    else assert.ok(name.startsWith(`${operation} `), name);
    assert.equal(kind, operation === "chat" ? 3 : 1);
    const needed = NEEDED[String(operation)] ?? [];
    for (const key of needed) assert.notEqual(attributes[key], undefined, `${name} has ${key}`);
  }
  assert.deepEqual(operations, new Set([undefined, ...Object.values(OPERATION)]));
  const failed = spans.find(({ name }) => name === "execute_tool read")!;
  assert.deepEqual([failed.attributes["error.type"], failed.status.code], ["tool_error", 2]);
  const subtask = spans.find(({ attributes }) => attributes["skein.task.id"] === "t.1.1")!;
  const parent = spans.find(({ attributes }) => attributes["skein.job.id"] === "work:t.1#1")!;
  assert.deepEqual(subtask.links?.[0]?.spanId, parent.spanId, "a subtask knows who asked for it");
}

/** The required attributes of the pinned conventions, written out, so that the table is not checked against itself. */
const NEEDED: Readonly<Record<string, readonly string[]>> = {
  invoke_workflow: ["gen_ai.workflow.name"],
  plan: ["gen_ai.agent.name"],
  invoke_agent: [
    "gen_ai.agent.name",
    "gen_ai.provider.name",
    "gen_ai.request.model",
    "gen_ai.conversation.id",
  ],
  chat: [
    ...[
      "gen_ai.provider.name",
      "gen_ai.request.model",
      "gen_ai.conversation.id",
      "gen_ai.usage.input_tokens",
    ],
    ...[
      "gen_ai.usage.output_tokens",
      "gen_ai.usage.cache_read.input_tokens",
      "gen_ai.response.finish_reasons",
    ],
  ],
  execute_tool: ["gen_ai.tool.name", "gen_ai.tool.call.id", "gen_ai.tool.type"],
};
