/** Runs every *.test.js below this folder, in one process. */
import { readdirSync } from "node:fs";

const here = new URL(".", import.meta.url);
const files = readdirSync(here, { recursive: true }).filter((name) => name.endsWith(".test.js"));
for (const name of files.sort()) await import(new URL(name, here));
