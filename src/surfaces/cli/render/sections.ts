/** Sections of a report, which all its forms share, and their lines for a terminal. */
import type { TimePart } from "../../../core/view/time-spent.ts";
import type { LaneView } from "../../../core/view/timeline.ts";
import { fit, padded, table, tableWithin, width, wrapped } from "../columns.ts";
import type { Tone } from "../output.ts";

/** Its texts are harmless on a terminal; markdown and HTML escape them separately. */
export type ReportSection = {
  readonly title: string;
  readonly tone: Tone;
  readonly items: readonly ReportItem[];
};

export type ReportItem =
  | { readonly is: "text"; readonly text: string; readonly tone: Tone }
  | { readonly is: "rows"; readonly rows: readonly (readonly string[])[]; readonly head?: readonly string[] }
  | { readonly is: "bars"; readonly bars: readonly Bar[] }
  /** Commands that can be pasted as they are; each remark is a shell comment. */
  | { readonly is: "commands"; readonly commands: readonly (readonly [command: string, remark: string])[] }
  /** A picture, for forms that can show one. */
  | {
      readonly is: "timeline";
      readonly lanes: readonly LaneView[];
      readonly from: number;
      readonly to: number;
    };

/** `share`: of the longest possible bar. `of`: decides its colour. */
export type Bar = {
  readonly label: string;
  readonly of: TimePart;
  readonly share: number;
  readonly text: string;
};

export const paragraph = (text: string, tone: Tone = "plain"): ReportItem => ({ is: "text", text, tone });
export const section = (
  title: string,
  items: readonly ReportItem[],
  tone: Tone = "strong",
): ReportSection => ({
  title,
  tone,
  items,
});

type ReportLine = { readonly tone: Tone; readonly text: string };

/** `columns`: the width of the page, if any. Without it lines stay whole, so that they can be searched. */
export const linesOf = (sections: readonly ReportSection[], columns?: number): readonly ReportLine[] =>
  sections.flatMap(({ title, tone, items }) => [
    { tone: "plain" as const, text: "" },
    { tone, text: paged(title, columns) },
    ...items.flatMap((item) => itemLines(item, columns)),
  ]);

/** Cuts a word that is longer than a line. */
function paged(text: string, columns: number | undefined, indent = ""): string {
  if (columns === undefined) return text;
  const lines = wrapped(text, columns, indent).split("\n");
  return lines.map((line) => fit(line, columns)).join("\n");
}

function itemLines(item: ReportItem, columns: number | undefined): readonly ReportLine[] {
  const plain = (text: string): ReportLine => ({ tone: "plain", text: `  ${text}` });
  switch (item.is) {
    case "text":
      return [{ tone: item.tone, text: paged(`  ${item.text}`, columns, "    ") }];
    case "rows": {
      const rows = [...(item.head ? [item.head] : []), ...item.rows];
      return (columns === undefined ? table(rows) : tableWithin(rows, columns - 2)).map(plain);
    }
    case "bars": {
      const wide = Math.max(0, ...item.bars.map(({ label }) => width(label)));
      return item.bars.map(({ label, share, text }) => {
        const bar = "█".repeat(Math.round(share * BAR_COLUMNS));
        return plain(`${padded(label, wide)}  ${padded(bar, BAR_COLUMNS)}  ${text}`);
      });
    }
    case "commands":
      return item.commands.flatMap(([command, remark]) => {
        const whole = `${command}  # ${remark}`;
        return width(whole) + 2 > (columns ?? width(whole) + 2)
          ? [plain(`# ${remark}`), plain(command)]
          : [plain(whole)];
      });
    case "timeline":
      return [];
  }
}

const BAR_COLUMNS = 30;
