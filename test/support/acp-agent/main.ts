/** A real agent of the Agent Client Protocol, made with the library's side for agents, that follows a script. */
import { Readable, Writable } from "node:stream";
import { script } from "./state.ts";

const [input, output] = [Readable.toWeb(process.stdin), Writable.toWeb(process.stdout)];
const versions = script.versions ?? [1];
if (script.greets === "never") process.stdin.resume();
else if (versions.length > 1) {
  const { agentProtocolRouter, ndJsonStream } = await import("@agentclientprotocol/sdk/experimental/v2");
  const [{ first }, { second }] = [await import("./version-1.ts"), await import("./version-2.ts")];
  agentProtocolRouter().withV1(first).withV2(second).connect(ndJsonStream(output, input));
} else if (versions.includes(2)) {
  const { ndJsonStream } = await import("@agentclientprotocol/sdk/experimental/v2");
  (await import("./version-2.ts")).second.connect(ndJsonStream(output, input));
} else {
  const { ndJsonStream } = await import("@agentclientprotocol/sdk");
  (await import("./version-1.ts")).first.connect(ndJsonStream(output, input));
}
