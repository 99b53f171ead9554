/** Reads the specialists and templates in the user's checkout, and what its files ask for. */
import path from "node:path";
import { repositoryTrust } from "../adapters/repository-trust.ts";
import { readSpecialists } from "../adapters/specialists.ts";
import { templateFiles } from "../adapters/templates.ts";
import { templateAsks } from "../app/trust/template-asks.ts";
import { readOnce } from "../delegation/specialist-table.ts";
import type { Environment } from "../ports/project.ts";
import type { Agrees } from "../ports/trust.ts";
import { TEMPLATES_FOLDER, templatesIn } from "../subtasks/repository-templates.ts";

export { isInsideJob } from "../adapters/programs/inside-job.ts";

export const specialistsOf = (top: string, agrees: Agrees) => readOnce(() => readSpecialists(top, agrees));

/** `allowCode`: modules are imported, which runs them with the user's rights. */
export async function templatesOf(top: string, allowCode: boolean, agrees: Agrees) {
  const files = await templateFiles(path.join(top, TEMPLATES_FOLDER), allowCode);
  return templatesIn(files.filter((file) => templateAsks(file).every(agrees)));
}

export const trustParts = (env: Environment) => repositoryTrust(env, TEMPLATES_FOLDER, templateAsks);
