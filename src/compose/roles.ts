/** Which roles and templates has a repository? Those of the user's checkout. */
import path from "node:path";
import { readSpecialists } from "../adapters/specialists.ts";
import { templateFiles } from "../adapters/templates.ts";
import { readOnce } from "../delegation/specialist-table.ts";
import { TEMPLATES_FOLDER, templatesIn } from "../subtasks/repository-templates.ts";

export const specialistsOf = (top: string) => readOnce(() => readSpecialists(top));

/** `allowCode`: modules are imported, which runs them with the user's rights. */
export const templatesOf = async (top: string, allowCode: boolean) =>
  templatesIn(await templateFiles(path.join(top, TEMPLATES_FOLDER), allowCode));
