/** `npm run schemas`: writes the JSON Schemas in `schema/` from the configuration's schema and from our types. */
import { readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { jsonSchema } from "../src/config/index.ts";
import { EVENT_VERSION } from "../src/core/log/migrate.ts";
import { PLAN_FORMAT } from "../src/planning/plan.ts";
import { ROOT } from "./source-files.ts";

export const SCHEMA_FOLDER = path.join(ROOT, "schema");

type Schema = { readonly [name: string]: unknown };

/** By file name. The number is the version of the format; a new version gets a new file, and the old file stays. */
export function schemas(): Readonly<Record<string, string>> {
  const plan = {
    ...withoutRequired(schemaOfType("src/planning/plan.ts", "ExecutionPlan", "basic")),
    required: ["tasks"],
  };
  const event = schemaOfType("src/core/log/event.ts", "Event", "none");
  return {
    "skein-yaml.v1.json": written(jsonSchema()),
    [`plan.v${PLAN_FORMAT}.json`]: written({ ...plan, title: "A plan file of Skein" }),
    [`event.v${EVENT_VERSION}.json`]: written({ ...event, title: "An event of a run of Skein" }),
  };
}

/** Further fields are allowed, because a reader of version n must accept fields that a later Skein adds to it. */
function schemaOfType(file: string, type: string, jsDoc: "basic" | "none"): Schema {
  const require = createRequire(path.join(ROOT, "tools/types/package.json"));
  const { createGenerator } = require("ts-json-schema-generator") as TypesGenerator;
  return createGenerator({
    path: path.join(ROOT, file),
    tsconfig: path.join(ROOT, "tsconfig.json"),
    type,
    expose: "export",
    topRef: false,
    jsDoc, // Our comments as descriptions, or none.
    additionalProperties: true,
    skipTypeCheck: true,
  }).createSchema(type);
}

type TypesGenerator = {
  createGenerator(settings: object): { createSchema(type: string): Schema };
};

/** The type describes what Skein writes; a person who writes a plan may leave out everything but the tasks. */
function withoutRequired<T>(schema: T): T {
  if (Array.isArray(schema)) return schema.map(withoutRequired) as T;
  if (typeof schema !== "object" || schema === null) return schema;
  const kept = Object.entries(schema).filter(([name, value]) => name !== "required" || !Array.isArray(value));
  return Object.fromEntries(kept.map(([name, value]) => [name, withoutRequired(value)])) as T;
}

const written = (schema: object) => `${JSON.stringify(schema, undefined, 2)}\n`;

if (import.meta.main)
  for (const [name, text] of Object.entries(schemas())) {
    const file = path.join(SCHEMA_FOLDER, name);
    if (readFileSync(file, { encoding: "utf8", flag: "a+" }) === text) continue;
    writeFileSync(file, text);
    console.log(`wrote schema/${name}`);
  }
