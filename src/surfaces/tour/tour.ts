/** `npm start`: what does a run look like? A small plan, rehearsed on a virtual clock, and told line by line. */
import { styleText } from "node:util";
import type { Event } from "../../core/event.ts";
import { evolve } from "../../core/evolve.ts";
import { defaultPolicy } from "../../core/policy.ts";
import { emptyState, type RunState } from "../../core/state.ts";
import { simulate } from "../../simulation/simulate.ts";
import { VirtualRepository } from "../../simulation/virtual-repository.ts";
import { type Line, narrate } from "../cli/narrate.ts";
import { accidents, team } from "./small-plan.ts";

const INTRO = `A rehearsal: the planners, the workers, the repository and the clock are simulated; the rules that
decide, the log and the engine are the real ones. Things will go wrong on purpose. c0, c1 … are commits of the
target; gating is running the project's tests on one before the target moves there.
`;

async function tour(print: (line: string) => void): Promise<number> {
  print(INTRO);
  const told: RunState = emptyState();
  const { end, events, now } = await simulate({
    goal: "build a calculator",
    policy: { ...defaultPolicy, capacity: { plan: 2, work: 4 } },
    repository: new VirtualRepository(),
    script: team,
    mischief: accidents(defaultPolicy),
    observe: (event) => {
      evolve(told, event);
      const line = narrate(event, told);
      if (line) print(`${clockTime(event.at)}  ${coloured(line)}`);
    },
  });
  if (end.is === "stuck") {
    print(`the rehearsal does not end: ${end.why}`);
    return 1;
  }
  print(summary(end.state, events, now));
  return end.state.closed!.how === "done" ? 0 : 1;
}

function summary(state: RunState, events: readonly Event[], now: number): string {
  const count = (type: Event["type"]) => events.filter((event) => event.type === type).length;
  const again = events.filter(
    (e) => e.type === "job.started" && e.job.kind === "work" && e.job.attempt > 1,
  ).length;
  const done = [...state.tasks.values()].filter((task) => task.state.is === "done").length;
  return [
    "",
    `${done} of ${state.tasks.size} tasks done in ${clockTime(now)} of virtual time.`,
    `${count("batch.landed")} landings, each gated before the target moved; ${again} attempts had to be made again.`,
    `${events.length} events; the run can be replayed from them at any point.`,
    "",
    "Next: npm run simulate -- --seeds 200    two hundred runs with faults of every kind",
    "      npm test                           everything that is claimed",
  ].join("\n");
}

function clockTime(ms: number): string {
  const seconds = Math.round(ms / 1000);
  const two = (n: number) => String(n).padStart(2, "0");
  return `${Math.floor(seconds / 3600)}:${two(Math.floor(seconds / 60) % 60)}:${two(seconds % 60)}`;
}

const STYLES = { plain: [], good: "green", bad: "yellow", quiet: "dim" } as const;

/** `styleText` leaves the colours out where there is no terminal, and where NO_COLOR says so. */
const coloured = ({ tone, text }: Line) => (tone === "plain" ? text : styleText(STYLES[tone], text));

process.exitCode = await tour((line) => console.log(line));
