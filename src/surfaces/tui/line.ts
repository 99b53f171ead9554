/** Renders one line of the screen, which never wraps. */
import { Text } from "ink";
import { createElement as h, type ReactNode } from "react";

type LineStyle = {
  readonly key?: string;
  readonly color?: string;
  readonly bold?: boolean;
  readonly dimColor?: boolean;
  readonly inverse?: boolean;
};

export const line = (text: string, style: LineStyle = {}): ReactNode =>
  h(Text, { wrap: "truncate", ...style }, text === "" ? " " : text);
