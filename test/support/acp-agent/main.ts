/** A real agent of the Agent Client Protocol, made with the protocol's library for agents, that follows a script. */
import { Readable, Writable } from "node:stream";
import { script } from "./state.ts";

const [input, output] = [Readable.toWeb(process.stdin), Writable.toWeb(process.stdout)];
if (script.greets === "never") process.stdin.resume();
else {
  const { ndJsonStream } = await import("@agentclientprotocol/sdk");
  (await import("./version-1.ts")).first.connect(ndJsonStream(output, input));
}
