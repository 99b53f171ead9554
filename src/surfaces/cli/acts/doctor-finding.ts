/** What is a finding of `skein doctor`? One line about one thing, and what to do about it. */
import type { Facts } from "./doctor-facts.ts";

/** `bad`: no run could start. `warn`: it could, but not as one might think. */
export type Finding = {
  readonly name: string;
  readonly level: "ok" | "warn" | "bad";
  readonly text: string;
  /** What to do about it. */
  readonly next?: string;
};

export type Check = (facts: Facts) => readonly Finding[];

export const ok = (name: string, text: string): Finding => ({ name, level: "ok", text });
export const warn = (name: string, text: string, next?: string): Finding =>
  withNext({ name, level: "warn", text }, next);
export const bad = (name: string, text: string, next?: string): Finding =>
  withNext({ name, level: "bad", text }, next);
const withNext = (finding: Finding, next: string | undefined): Finding =>
  next === undefined ? finding : { ...finding, next };
