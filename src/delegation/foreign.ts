/** Reads values from outside, which may be anything. None of these functions throw. */
import { messageOf } from "../core/failure.ts";

/** A field whose getter throws counts as missing. */
export function fieldOf(value: unknown, name: string): unknown {
  try {
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>)[name] : undefined;
  } catch {
    return undefined; // An executor's value must not break its caller.
  }
}

/** Text as it is, data as JSON, and any other value as its message. */
export function shown(value: unknown): string {
  if (typeof value === "string") return value;
  try {
    return JSON.stringify(value, undefined, 2) ?? String(value);
  } catch {
    return messageOf(value); // Circular, or a BigInt: show the message instead of failing.
  }
}

/** The text of an error that should have been text; empty if there is none. */
export function reasonOf(error: unknown): string {
  if (typeof error === "string") return error;
  return error === undefined || error === null ? "" : messageOf(error);
}

/** A number from 0; undefined for any other value, because one NaN would spoil every sum. */
export const amountOf = (value: unknown): number | undefined =>
  typeof value === "number" && Number.isFinite(value) && value >= 0 ? value : undefined;
