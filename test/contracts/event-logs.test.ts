/** The log in SQLite against the contract of its port. */
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { SqliteEventLog } from "../../src/adapters/event-logs/sqlite.ts";
import { eventLogContract } from "./event-log.ts";

const newFile = () => path.join(mkdtempSync(path.join(tmpdir(), "skein-log-")), "events.db");
eventLogContract("in SQLite", () => new SqliteEventLog(newFile()));
