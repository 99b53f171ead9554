#!/usr/bin/env node
/** The command: one date, or today. */
import { parseDate } from "../src/index.js";
import { pageOf } from "../src/page.js";

const [text = new Date().toISOString().slice(0, 10)] = process.argv.slice(2);
try {
  process.stdout.write(pageOf(parseDate(text)));
} catch (error) {
  if (!(error instanceof RangeError)) throw error;
  console.error("almanac: " + error.message);
  process.exitCode = 2;
}
