/** How does the page ask the server? Failures come back as words that can be shown. */
import type { RunLine } from "../../core/view/run-line.ts";

export type ListedRun = RunLine | { readonly problem: string };
export type DeviceLine = {
  readonly id: string;
  readonly name: string;
  readonly since: number;
  readonly isThis: boolean;
};
type Asked<T> = { readonly value: T } | { readonly error: string };

export async function ask<T>(
  path: string,
  options: { readonly method?: string; readonly body?: unknown } = {},
): Promise<Asked<T>> {
  try {
    const response = await fetch(path, {
      method: options.method ?? "GET",
      ...(options.body !== undefined && {
        headers: { "Content-Type": "application/json" },
        body: JSON.stringify(options.body),
      }),
    });
    const text = await response.text();
    if (response.ok) return { value: JSON.parse(text) as T };
    return { error: reasonIn(text) };
  } catch {
    return { error: "the server does not answer; is skein serve still running?" };
  }
}

function reasonIn(text: string): string {
  try {
    const { error, reason, next } = JSON.parse(text) as { error?: string; reason?: string; next?: string };
    return `${error ?? reason ?? text}${next === undefined ? "" : `. Try: ${next}`}`;
  } catch {
    return text;
  }
}

/** `undefined`: done. */
export async function command(
  run: string,
  said: Readonly<Record<string, unknown>>,
): Promise<string | undefined> {
  const answer = await ask<{ note?: string }>(`/api/runs/${encodeURIComponent(run)}/commands`, {
    method: "POST",
    body: said,
  });
  return "error" in answer ? answer.error : answer.value.note;
}
