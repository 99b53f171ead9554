/** Writes a simulated run to a real log at a given number of events per second; prints its processor time in ms. */
import { setImmediate as drained, setTimeout as sleep } from "node:timers/promises";
import { ManualClock } from "../src/adapters/clocks/manual.ts";
import type { Event } from "../src/core/log/event.ts";
import { hasFailed } from "../src/core/result.ts";
import { runEngine } from "../src/engine/engine.ts";
import { Inbox } from "../src/engine/inbox.ts";
import type { EventLog } from "../src/ports/event-log.ts";
import { freeProvider } from "../test/simulation/provider.ts";
import { noMischief, VirtualQueue } from "../test/simulation/virtual-queue.ts";
import { projectAt } from "../test/web/place.ts";
import { simulationOf, WORKLOADS } from "./engine-workload.ts";

const [folder = "", run = "", tasks = "", perSecond = "", seconds = ""] = process.argv.slice(2);
const home = await (await projectAt(folder, process.env)).runs.open(run);
if (hasFailed(home)) throw new Error(home.failure.message);
const { policy, script, repository, goal } = simulationOf(WORKLOADS["layers of 100"]!(Number(tasks), 1), 50);
let written = 0;
const log: EventLog = {
  read: (after) => home.log.read(after),
  append: (after: number, events: readonly Event[]) => {
    written += events.length;
    return home.log.append(after, events);
  },
};
const clock = new ManualClock();
const queue = new VirtualQueue({ clock, repository, script, mischief: noMischief, provider: freeProvider });
const inbox = new Inbox();
inbox.send({ type: "open", request: { run, goal, base: repository.base } });
const stop = new AbortController();
const ended = runEngine({ log, queue, clock: clock.ofProcess(), policy }, inbox, stop.signal);
await advance(() => written >= Number(tasks)); // The plan and the first workers run at full speed.
const cpu = process.cpuUsage();
const start = performance.now();
const before = written;
for (let elapsed = 0; elapsed < Number(seconds); elapsed = (performance.now() - start) / 1_000) {
  await advance(() => written - before >= elapsed * Number(perSecond));
  await sleep(50);
}
const { user, system } = process.cpuUsage(cpu);
console.log(JSON.stringify({ cpuMs: (user + system) / 1_000, events: written - before }));
stop.abort();
void ended;
process.exit(0);

async function advance(isEnough: () => boolean): Promise<void> {
  while (!isEnough()) {
    await drained();
    if (clock.next() === undefined) throw new Error("the simulated run is over");
    clock.step();
  }
}
