/** The instructions for a role: one of the prompts, and for a worker also its specialist's. */
import type { Specialist } from "../core/specialist.ts";
import { ROOT } from "../core/task.ts";
import type { Ask } from "../ports/agent.ts";
import type { Prompts } from "../ports/prompts.ts";
import { plainText } from "./message.ts";

export function systemPrompt(prompts: Prompts, { brief, role }: Pick<Ask, "brief" | "role">): string {
  if (brief.kind === "plan" && brief.request) return prompts["execution-planner"];
  if (brief.kind === "plan") return prompts[brief.task === ROOT ? "root-planner" : "subplanner"];
  return withSpeciality(prompts.worker, role);
}

export function withSpeciality(prompt: string, role: Specialist | undefined): string {
  if (role === undefined || role.prompt.trim() === "") return prompt;
  return [
    prompt.trimEnd(),
    `## Your speciality: ${role.name}`,
    "What follows adds to the rules above. Where it says otherwise, the rules above hold.",
    `${plainText(role.prompt).trim()}\n`,
  ].join("\n\n");
}
