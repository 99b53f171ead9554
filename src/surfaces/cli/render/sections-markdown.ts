/** Renders a report as markdown, for a project page or a pull request. */
import { harmless } from "../../../text/words.ts";
import type { ReportItem, ReportSection } from "./sections.ts";

export function markdownOf([headline, ...sections]: readonly ReportSection[], goal: string): string {
  return [
    `# ${escaped(headline?.title ?? "")}`,
    `> ${escaped(harmless(goal))}`,
    ...blocksOf(headline?.items ?? []),
    ...sections.flatMap(({ title, items }) => [`## ${escaped(title)}`, ...blocksOf(items)]),
  ]
    .filter((block) => block !== "")
    .map((block) => `${block}\n`)
    .join("\n");
}

/** Consecutive texts become one list. */
function blocksOf(items: readonly ReportItem[]): readonly string[] {
  const blocks: string[] = [];
  let list: string[] = [];
  const endList = () => {
    if (list.length > 0) blocks.push(list.join("\n"));
    list = [];
  };
  for (const item of items) {
    if (item.is === "text") {
      // A text that belongs to the line before it is indented.
      list.push(`${item.text.startsWith("  ") ? "  " : ""}- ${escaped(item.text.trimStart())}`);
      continue;
    }
    endList();
    blocks.push(blockOf(item));
  }
  endList();
  return blocks;
}

function blockOf(item: Exclude<ReportItem, { readonly is: "text" }>): string {
  switch (item.is) {
    case "rows":
      return table(item.rows, item.head);
    case "bars":
      return table(
        item.bars.map(({ label, share, text }) => [label, "█".repeat(Math.round(share * 20)), text]),
      );
    case "commands": // Commands are for the terminal on which the report was made.
    case "timeline":
      return "";
  }
}

function table(rows: readonly (readonly string[])[], head?: readonly string[]): string {
  const columns = Math.max(...rows.map(({ length }) => length));
  const row = (cells: readonly string[]) =>
    `| ${Array.from({ length: columns }, (_, i) => escaped(cells[i] ?? "")).join(" | ")} |`;
  return [row(head ?? []), `|${" --- |".repeat(columns)}`, ...rows.map(row)].join("\n");
}

/** Escapes a text so that it cannot become markup, a link, a picture or HTML. */
const escaped = (text: string): string =>
  text
    .replace(/[\\`*_[\]#!|~$]/g, "\\$&")
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;");
