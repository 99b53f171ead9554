/** The address of a view, and the data that every part of the page is rendered from. */
import type { RunWord } from "../../core/view/labels.ts";
import type { Standing } from "../../core/view/standing.ts";
import type { LiveRun } from "./live-run.ts";

export type PageParts = {
  readonly run: string;
  readonly live: LiveRun;
  readonly seen: LiveRun["seen"];
  readonly view: Standing;
  /** The state of the run; at an earlier event as if a process drove it. */
  readonly word: RunWord;
  readonly route: Route;
};

export type Route = { readonly run?: string; readonly tab: string; readonly task?: string };

/** Reads "#/run/tab/task": the parts are encoded, because a page must not trust its own address. */
export function routeOf(hash: string): Route {
  const [run, tab = "graph", task] = hash.replace(/^#\/?/, "").split("/").map(decode);
  return { tab, ...(run && { run }), ...(task && { task }) };
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return ""; // The page did not encode it.
  }
}

export const addressOf = ({ run, tab, task }: Route): string =>
  `#/${[run ?? "", tab, ...(task ? [task] : [])].map(encodeURIComponent).join("/")}`;
