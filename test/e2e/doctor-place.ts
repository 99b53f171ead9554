/** Runs `skein doctor --json` for tests, and checks what must hold of every answer. */
import assert from "node:assert/strict";
import type { Place } from "./cli-place.ts";

export type Finding = { name: string; level: "ok" | "warn" | "bad"; text: string; next?: string };
export type Said = {
  canRun: boolean;
  findings: Finding[];
  settings: { key: string; value: unknown; origin: string }[];
  [key: string]: unknown;
};

/** Gives the answer as JSON; checks that the exit code agrees with `canRun`. */
export async function examine(place: Pick<Place, "skein">, ...args: readonly string[]): Promise<Said> {
  const { code, out, err } = await place.skein("doctor", "--json", ...args);
  assert.equal(err, "");
  const said = JSON.parse(out) as Said;
  assert.equal(code, said.canRun ? 0 : 1);
  assert.equal(said.canRun, !said.findings.some(({ level }) => level === "bad"));
  return said;
}
export const badOf = ({ findings }: Said) => findings.filter(({ level }) => level === "bad");
export const textsOf = ({ findings }: Said, name: string) =>
  findings.filter((finding) => finding.name === name).map(({ level, text }) => `${level}: ${text}`);
