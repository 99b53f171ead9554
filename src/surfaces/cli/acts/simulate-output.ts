/** How does a forecast reach a person? In sections on a page, and as a picture in a file. */
import path from "node:path";
import { type Context, refuse, say } from "../context.ts";
import { EXIT, type ExitCode } from "../exit-codes.ts";
import type { Section } from "../forecast-text.ts";
import { paint } from "../output.ts";
import { onPage } from "../words.ts";
import { writeNew } from "./write-new.ts";

export function saySections(context: Context, sections: readonly Section[]): void {
  for (const { title, lines } of sections) {
    say(context, `\n${paint(context.out, "strong", title)}`);
    // A row of a table has two blanks between its columns: broken, it would be none.
    for (const line of lines)
      say(
        context,
        / {2}/.test(line) ? `  ${line}` : onPage(context.out, line === "" ? "" : `  ${line}`, "    "),
      );
  }
}

/** Undefined: it is there. */
export async function draw(context: Context, file: string, svg: string): Promise<ExitCode | undefined> {
  const written = await writeNew(path.resolve(context.folder, file), svg, true);
  if (!("why" in written)) return undefined;
  const message = `the picture cannot be written to ${file}: ${written.why}`;
  return refuse(context, EXIT.configuration, { kind: "output", message, next: "name another file: --svg" });
}
