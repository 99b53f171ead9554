/** Names the deadlines of a run: waits before a task is tried again, and of accounts. */
import type { TaskId } from "../task.ts";

export const retryKey = (id: TaskId) => `retry:${id}`;
export const retryTask = (key: string): TaskId | undefined =>
  key.startsWith("retry:") ? (key.slice("retry:".length) as TaskId) : undefined;

export const accountKey = (account: string) => `account:${account}`;
export const accountOfKey = (key: string): string | undefined =>
  key.startsWith("account:") ? key.slice("account:".length) : undefined;
