/** Lists what template files of a repository ask for: to give agents their instructions. */
import type { TemplateFile } from "../../ports/subtasks.ts";
import type { TrustAsk } from "../../ports/trust.ts";
import { templatesIn } from "../../subtasks/repository-templates.ts";

/** A module asks for nothing: it is imported only with a flag, which is an agreement. */
export function templateAsks(file: TemplateFile): readonly TrustAsk[] {
  if (file.is !== "xml") return [];
  return templatesIn([file]).found.flatMap((found) => {
    if (found.is !== "template") return [];
    const { name } = found.template;
    const value: unknown = JSON.parse(JSON.stringify(found.template)); // Without what JSON cannot hold.
    return [
      { is: "template", from: found.file, name, value, words: `the template ${name} instructs agents` },
    ];
  });
}
