/** How does a forecast reach a person? In sections on a page, and as a picture in a file. */
import path from "node:path";
import { type Context, refuse, say } from "../context.ts";
import { EXIT, type ExitCode } from "../exit-codes.ts";
import type { Section } from "../forecast-text.ts";
import { paint } from "../output.ts";
import { onPage } from "../words.ts";
import { readBounded } from "./read-file.ts";
import { lookAt, writeNew } from "./write-new.ts";

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

/** Undefined: it is there. An older picture is replaced, and nothing else: the plan's own name is soon typed. */
export async function draw(context: Context, file: string, svg: string): Promise<ExitCode | undefined> {
  const to = path.resolve(context.folder, file);
  const written = await writeNew(to, svg, await isPicture(to));
  if (!("why" in written)) return undefined;
  const why = written.isThere ? "it is there already and is no picture" : written.why;
  const message = `the picture cannot be written to ${file}: ${why}`;
  return refuse(context, EXIT.configuration, { kind: "output", message, next: "name another file: --svg" });
}

/** A link is replaced itself, and what it leads to is left alone. */
async function isPicture(file: string): Promise<boolean> {
  if ((await lookAt(file))?.isSymbolicLink()) return true;
  return (await readBounded(file, BEGINNING.length).catch(() => "")).startsWith(BEGINNING);
}

const BEGINNING = "<svg ";
