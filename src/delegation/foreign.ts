/** What does a value say that came from outside, where anything may come? None of these throw. */
import { messageOf } from "../core/failure.ts";

/** A field that throws when it is asked for is as good as none. */
export function fieldOf(value: unknown, name: string): unknown {
  try {
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>)[name] : undefined;
  } catch {
    return undefined; // What an executor hands out must not break who called it.
  }
}

/** Text as it is, data as JSON, anything else in the words that there are for it. */
export function shown(value: unknown): string {
  if (typeof value === "string") return value;
  try {
    return JSON.stringify(value, undefined, 2) ?? String(value);
  } catch {
    return messageOf(value); // Circular, or a BigInt: still better than failing the reader.
  }
}

/** The words of an error that should have been text; empty if there is none. */
export function reasonOf(error: unknown): string {
  if (typeof error === "string") return error;
  return error === undefined || error === null ? "" : messageOf(error);
}

/** A number from 0; undefined if it is no such thing, because one NaN would spoil every sum. */
export const amountOf = (value: unknown): number | undefined =>
  typeof value === "number" && Number.isFinite(value) && value >= 0 ? value : undefined;
