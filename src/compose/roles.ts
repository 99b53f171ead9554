/** Which roles and templates has a repository? Those of the user's checkout. */
import path from "node:path";
import { readSpecialists } from "../adapters/specialists.ts";
import { templateFiles } from "../adapters/templates.ts";
import type { Specialist } from "../core/specialist.ts";
import { withBuiltIn } from "../delegation/specialist-table.ts";
import { TEMPLATES_FOLDER, templatesIn } from "../subtasks/repository-templates.ts";

/** Read once: what a worker writes there changes nothing of this run. */
export function specialistsOf(top: string): () => Promise<readonly Specialist[]> {
  let read: Promise<readonly Specialist[]> | undefined;
  return () => {
    read ??= readSpecialists(top).then(({ specialists }) => withBuiltIn(specialists));
    return read;
  };
}

/** `allowCode`: modules are imported, which runs them with the user's rights. */
export const templatesOf = async (top: string, allowCode: boolean) =>
  templatesIn(await templateFiles(path.join(top, TEMPLATES_FOLDER), allowCode));
