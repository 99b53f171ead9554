/** Damages a planner's text: unreadable, cut off, or well-formed and wrong. */
import type { Random } from "../../src/simulation/random.ts";

type Task = { id: string; scope: string[]; after: string[]; priority?: unknown; acceptance?: unknown };
type Answer = { tasks: Task[] };

export type Damage = {
  readonly kind: "plan unreadable" | "plan truncated" | "plan invalid";
  readonly text: string;
};

export function damagePlan(random: Random, text: string): Damage {
  const answer = JSON.parse(text) as Answer;
  const roll = random.next();
  if (roll < 0.25) return { kind: "plan unreadable", text: random.pick(UNREADABLE) };
  if (roll < 0.5 || answer.tasks.length === 0) {
    return { kind: "plan truncated", text: text.slice(0, random.below(text.length - 1)) };
  }
  random.pick(WRONGS)(answer.tasks, random);
  return {
    kind: "plan invalid",
    text: `Here is my plan:\n\`\`\`json\n${JSON.stringify(answer)}\n\`\`\`\nGood luck!`,
  };
}

const UNREADABLE = [
  "",
  "I'm sorry, I can't help with that.",
  "null",
  "<html><body>502 Bad Gateway</body></html>",
  '{"error": {"type": "overloaded_error"}}',
  "[[[[[[[[",
];

const WRONGS: readonly ((tasks: Task[], random: Random) => void)[] = [
  (tasks) => tasks.push({ ...tasks[0]! }),
  (tasks) => tasks[0]!.after.push("nobody"),
  (tasks) => tasks[0]!.after.push(tasks[0]!.id),
  (tasks) => tasks[0]!.scope.push("../../etc/passwd"),
  (tasks) => tasks[0]!.scope.push(".git/config"),
  (tasks) => {
    tasks[0]!.priority = "soon";
  },
  (tasks) => {
    tasks[0]!.acceptance = 7;
  },
  (tasks) => {
    tasks[0]!.id = "--upload-pack=evil";
  },
  (tasks, random) => {
    const other = random.pick(tasks);
    tasks[0]!.after.push(other.id);
    other.after.push(tasks[0]!.id);
  },
];
