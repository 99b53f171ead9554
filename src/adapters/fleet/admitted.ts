/** Decides which parts of repository files fleet workers may have: those that the user agreed to when the run began. */
import type { TemplateFile } from "../../ports/subtasks.ts";
import { type Agrees, OWN_PROMPTS, type TrustAsk } from "../../ports/trust.ts";
import { agreedServers } from "../agents/acp/mcp-servers.ts";
import { promptAsk } from "../prompts.ts";
import { specialistOf } from "../specialist-file.ts";
import { roleAsk } from "../specialists.ts";
import { KIT_PROMPTS } from "./run-kit.ts";

/** For `readKitFiles`, which names files as in the kit. `asksOf`: what a template asks for. */
export const admittedBy =
  (agrees: Agrees, asksOf: (file: TemplateFile) => readonly TrustAsk[]) =>
  (name: string, text: string): string | undefined => {
    if (name === ".mcp.json") return agreedServers(text, agrees);
    return isAdmitted(agrees, asksOf, { name, text }) ? text : undefined;
  };

function isAdmitted(
  agrees: Agrees,
  asksOf: (file: TemplateFile) => readonly TrustAsk[],
  { name, text }: { readonly name: string; readonly text: string },
): boolean {
  const file = name.slice(name.lastIndexOf("/") + 1);
  if (name.startsWith(`${KIT_PROMPTS}/`)) return agrees(OWN_PROMPTS) || agrees(promptAsk(name, text));
  if (name.endsWith(".xml")) return asksOf({ file, is: "xml", text }).every(agrees);
  if (!name.endsWith(".md")) return true; // A module of templates: workers do not import it.
  const read = specialistOf(name, text);
  return "specialist" in read && agrees(roleAsk(read.specialist));
}
