/** Tests how the standard `OTEL_*` variables turn traces on, and which mistakes in them are reported. */
import assert from "node:assert/strict";
import { it } from "node:test";
import { isContentWanted, traceSettings } from "./settings.ts";

const on = { OTEL_EXPORTER_OTLP_ENDPOINT: "http://here:4318/" };

it("is off unless an address or the exporter is named", () => {
  assert.equal(traceSettings({}), undefined);
  assert.equal(traceSettings({ OTEL_EXPORTER_OTLP_ENDPOINT: " ", OTEL_SERVICE_NAME: "x" }), undefined);
  assert.equal(traceSettings({ ...on, OTEL_SDK_DISABLED: "True" }), undefined);
  for (const exporter of ["none", "console", "zipkin"])
    assert.equal(traceSettings({ ...on, OTEL_TRACES_EXPORTER: exporter }), undefined);
  assert.equal(traceSettings({ OTEL_TRACES_EXPORTER: "otlp" })?.endpoint, "http://localhost:4318/v1/traces");
});

it("takes the variable for traces before the one for everything", () => {
  assert.equal(traceSettings(on)?.endpoint, "http://here:4318/v1/traces");
  const own = { ...on, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: "https://there/in" };
  assert.equal(traceSettings(own)?.endpoint, "https://there/in");
  const settings = traceSettings({
    ...on,
    OTEL_EXPORTER_OTLP_HEADERS: "a=1,b=two%20words, broken, =none",
    OTEL_EXPORTER_OTLP_TRACES_HEADERS: "a=3=4,c=100%",
    OTEL_EXPORTER_OTLP_TIMEOUT: "0",
    OTEL_BSP_SCHEDULE_DELAY: "70",
    OTEL_RESOURCE_ATTRIBUTES: "service.name=x,team=y",
  })!;
  assert.deepEqual(settings.headers, { a: "3=4", b: "two words", c: "100%" });
  assert.equal(settings.timeoutMs, 10_000);
  assert.deepEqual(settings.batch, { delayMs: 70, maxSpans: 512, maxQueue: 2_048 });
  assert.deepEqual(settings.resource, { "service.name": "x", team: "y" });
});

it("says what is wrong with an address, without what may be secret in it", () => {
  const problem = (address: string, more = {}) =>
    traceSettings({ OTEL_EXPORTER_OTLP_ENDPOINT: address, ...more })?.problem ?? "";
  for (const fine of ["http://here:4318", "https://[::1]:4318/base/"]) assert.equal(problem(fine), "");
  for (const [address, words] of [
    ["localhost:4318", /does not begin with http/],
    ["ftp://here", /does not begin with http/],
    ["http://", /is not an address, such as http/],
    ["/run/collector", /is not an address/],
    ["http://here:99999", /is not an address/],
    ["http://me:secret@here", /has a name or password in it: give them as a header/],
  ] as const) {
    assert.match(problem(address), words);
    assert.doesNotMatch(problem(address), /secret/);
  }
  assert.match(problem("http://here", { OTEL_EXPORTER_OTLP_PROTOCOL: "grpc" }), /Skein sends by HTTP/);
  const own = { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: "here" };
  assert.match(problem("http://here", own), /^OTEL_EXPORTER_OTLP_TRACES_ENDPOINT is not/);
});

it("wants content only if that is said", () => {
  const name = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT";
  for (const yes of ["true", "SPAN_ONLY", "span_and_event"]) assert.ok(isContentWanted({ [name]: yes }));
  for (const no of [undefined, "", "false", "1", "event_only"]) assert.ok(!isContentWanted({ [name]: no }));
});
