/** Makes a place to run templates of subtasks: a repository with two of them, and agents that answer as told. */
import assert from "node:assert/strict";
import path from "node:path";
import { plainEnvironment } from "../support/repositories.ts";
import type { Ended, Place } from "./cli-place.ts";

export const KEY = "a-key-that-nobody-may-see-4711";
const WRITE = `<task name="write" type="writing"><description>Write a text</description>
  <inputs><input name="topic" required="true">What it is about</input></inputs></task>`;
const CHECK = `<task name="check" type="verification"><description>Check a text</description></task>`;
export const FILES = {
  "README.md": "# here\n",
  ".skein/templates/write.xml": WRITE,
  ".skein/templates/check.xml": CHECK,
};

export const request = (more: object = {}) => ({
  status: "CONTINUATION",
  content: "a draft",
  notes: {
    subtask_request: { type: "verification", description: "Look at it", inputs: { text: "hi" }, ...more },
  },
});
export const done = (content: string) => ({ status: "COMPLETE", content });
export const RUN = ["subtask", "run", "write", "--input", "topic=tea"];

export const resultOf = ({ out, err }: Ended) => {
  assert.ok(out.startsWith("{"), out + err);
  return JSON.parse(out) as {
    readonly status: string;
    readonly content: string;
    readonly notes: Readonly<Record<string, unknown>>;
  };
};

export const envOf = (place: Place, more: Readonly<Record<string, string>>) => ({
  ...plainEnvironment(),
  HOME: path.join(place.folder, "home"),
  SKEIN_STATE_DIR: place.state,
  ...more,
});
