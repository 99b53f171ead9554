/** Reads the templates of a repository from `.skein/templates`, and reports the files that are not valid. */
import type { TemplateFile } from "../ports/subtasks.ts";
import { type Registered, TemplateRegistry } from "./registry.ts";
import type { TaskTemplate, Template } from "./template.ts";

export type RepositoryTemplates = {
  readonly registry: TemplateRegistry;
  readonly found: readonly FoundTemplate[];
};

/** `file`: relative to the repository's root. */
export type FoundTemplate = { readonly file: string } & (
  | { readonly is: "template"; readonly template: Template }
  | { readonly is: "code" }
  | { readonly is: "wrong"; readonly why: string }
);

export const TEMPLATES_FOLDER = ".skein/templates";

export function templatesIn(files: readonly TemplateFile[]): RepositoryTemplates {
  const registry = new TemplateRegistry();
  const found = files.flatMap((one) => {
    const file = `${TEMPLATES_FOLDER}/${one.file}`;
    return registered(registry, one, file).map((is) => ({ file, ...is }) as FoundTemplate);
  });
  return { registry, found };
}

type Unplaced = FoundTemplate extends infer One ? (One extends unknown ? Omit<One, "file"> : never) : never;

function registered(registry: TemplateRegistry, file: TemplateFile, at: string): readonly Unplaced[] {
  switch (file.is) {
    case "xml":
      return [judged(registry.registerXml(file.text, at))];
    case "module":
      // The registry checks what the file exports, whatever its type claims.
      return [file.value].flat().map((value) => judged(registry.register(value as TaskTemplate, at)));
    case "code":
      return [{ is: "code" }];
    case "unreadable":
      return [{ is: "wrong", why: file.why }];
  }
}

const judged = (read: Registered): Unplaced =>
  "error" in read ? { is: "wrong", why: read.error.message } : { is: "template", template: read.template };
