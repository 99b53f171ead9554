/** Tells people why an agent's plan was refused: the agent's reasons, with its tasks by their names. */
import { visible } from "../plain.ts";
import type { Refused } from "./plan-turns.ts";

/** The agent reads `tasks[2].scope` beside its own plan; a person has no such plan, and reads `task "login": scope`. */
export function reasonsForPeople({ reasons, json }: Refused): readonly string[] {
  const names = namesIn(json);
  return reasons.map((reason) =>
    reason.replace(/\btasks\[(\d{1,6})\]\.?([\w.[\]]*)/g, (place, number: string, part: string) => {
      const name = names[Number(number)];
      if (name === undefined) return place;
      return part === "" ? `task ${name}` : `task ${name}, ${part.replace(/^metadata\./, "")}`;
    }),
  );
}

function namesIn(json: string): readonly (string | undefined)[] {
  try {
    const { tasks } = JSON.parse(json) as { readonly tasks?: unknown };
    return Array.isArray(tasks) ? tasks.map(nameOf) : [];
  } catch {
    return []; // It was no JSON, which is what the reasons say.
  }
}

function nameOf(task: unknown): string | undefined {
  const { id, subject } = Object(task) as { readonly id?: unknown; readonly subject?: unknown };
  const name = [id, subject].find((one) => typeof one === "string" && one.trim() !== "");
  return name === undefined
    ? undefined
    : JSON.stringify(visible(String(name)).trim().slice(0, MAX_NAME_CHARS));
}

const MAX_NAME_CHARS = 60;
