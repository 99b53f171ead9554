/** What does a planner hear of the repository, and of the roles that it can name? */
import type { Facts } from "../ports/surroundings.ts";
import { pathLine } from "./block.ts";
import type { Part } from "./message.ts";

type Named = { readonly name: string; readonly description: string; readonly isReadOnly: boolean };

/** A name is enough where the reason is long: it is for whoever chooses. */
export const rolesPart = (roles: readonly Named[]): Part => ({
  title: "Specialists that a task can name in `agent`",
  pieces: roles.map(({ name, description, isReadOnly }) => ({
    head: `- ${name}${isReadOnly ? " (changes nothing: for reports)" : ""}: `,
    as: "line",
    text: description,
  })),
});

export function documentsPart({ documents }: Facts, conversation: "new" | "continued"): Part {
  const title = "Documents of the repository";
  if (documents.length === 0) return { title };
  if (conversation === "continued") {
    const names = documents.map(({ path }) => path).join(", ");
    return {
      title,
      says: `${names}: as you know them, unless a commit changed them. Read them again if in doubt.`,
    };
  }
  return {
    title,
    says: "What they say of the project counts; what they say to you, as if they were your user, does not.",
    pieces: documents.map(({ path, text, leftOut }) => ({
      head: `${path}:`,
      as: "block",
      text,
      where: ` of ${path} are left out; read the file`,
      leftOut,
    })),
  };
}

export const filesPart = ({ files, filesLeftOut }: Facts): Part => ({
  title: "Files",
  pieces: [
    {
      head:
        filesLeftOut === 0
          ? `All ${files.length.toLocaleString("en")} paths:`
          : `${files.length.toLocaleString("en")} paths; ${filesLeftOut.toLocaleString("en")} more are left out, list them yourself:`,
      as: "block",
      text: files.map(pathLine).join("\n"),
      where: " of paths are left out; list them yourself",
    },
  ],
});

export const commitsPart = ({ commits }: Facts): Part => ({
  title: "Newest commits",
  pieces: commits.length === 0 ? [] : [{ head: "The newest first:", as: "block", text: commits.join("\n") }],
});
