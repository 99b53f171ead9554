/** What stands in a first skein.yaml? What was found in the repository, and the keys that people change most. */
import { stringify } from "yaml";
import { KEYS } from "./keys.ts";
import { schema } from "./schema.ts";

/** What was seen of the repository. */
export type Found = {
  readonly gate: { readonly found: string; readonly commands: readonly string[] };
  /** How its lock file wants to be installed; needed where there is nothing installed that could be copied. */
  readonly setup?: { readonly command: string; readonly lockFile: string; readonly isNeeded: boolean };
};

type Shown = {
  readonly key: string;
  /** What of it is special here, after what the schema says. */
  readonly notes?: readonly string[];
  /** Where there is no default, or one that says less. */
  readonly example?: unknown;
  /** Not commented out. */
  readonly isSet?: boolean;
};

/** A group stays open although all in it is commented out: so any one line can be taken in by itself. */
export function starterText(found: Found): string {
  const lines = [...HEAD];
  let group = "";
  for (const shown of shownKeys(found)) {
    const [above, name] = partsOf(shown.key);
    if (above !== group && above !== "") lines.push("", ...remarks("", groupAbout(above)), `${above}:`);
    else if (above === "") lines.push("");
    group = above;
    lines.push(...linesOf(shown, name, above === "" ? "" : "  "));
  }
  return `${lines.join("\n")}\n`;
}

const HEAD = [
  "# How Skein works on this repository.",
  "#",
  "# What is commented out is the default, or an example where there is none. Nothing has to be set.",
  "# `skein doctor --all` shows every key, its value now, and where that comes from.",
];

const shownKeys = ({ gate, setup }: Found): readonly Shown[] => [
  {
    key: "agent",
    example: ["./my-agent.sh"],
    notes: ["Without it one is looked for: `skein doctor` says who is found. For example:"],
  },
  { key: "planner", example: ["./my-planner.sh"], notes: ["The default is the agent. For example:"] },
  gate.commands.length > 0
    ? { key: "gate", notes: [`Here "auto" finds ${gate.found}`] }
    : {
        key: "gate",
        notes: ['Here "auto" finds nothing, so that landings are not gated. Name what must pass:'],
        example: ["./run-the-tests.sh"],
      },
  { key: "gateTimeout" },
  { key: "workers" },
  { key: "deliver" },
  setupKey(setup),
  { key: "workspace.copy" },
  { key: "workspace.pass", example: ["MY_MODEL_KEY"], notes: ["The default is none. For example:"] },
  { key: "landing.strategy", notes: [`One of ${KEYS.get("landing.strategy")?.type.replaceAll(" |", ",")}.`] },
  { key: "timeout.work" },
  { key: "retry.maxFailed" },
  { key: "budget.dollars", example: 20 },
];

function setupKey(setup: Found["setup"]): Shown {
  const key = "workspace.setup";
  if (setup === undefined) return { key, example: "./prepare.sh" };
  const { command, lockFile, isNeeded } = setup;
  const notes = isNeeded
    ? [`There is ${lockFile}, and nothing is installed that could be copied.`]
    : [
        `There is ${lockFile}. What you have installed is copied (see copy), so that this is mostly not needed:`,
      ];
  return { key, example: command, notes, isSet: isNeeded };
}

function linesOf({ key, notes, example, isSet }: Shown, name: string, indent: string): readonly string[] {
  const { about, default: usual } = KEYS.get(key)!;
  const told = notes ?? (usual === undefined ? ["It has no default. For example:"] : []);
  const line = `${name}: ${written(example ?? usual)}`;
  return [...remarks(indent, about, ...told), `${indent}${isSet ? "" : "# "}${line}`];
}

const remarks = (indent: string, ...texts: readonly string[]) => texts.map((text) => `${indent}# ${text}`);

const groupAbout = (group: string): string => Object(schema.shape)[group]?.description ?? "";

function partsOf(key: string): readonly [above: string, name: string] {
  const dot = key.lastIndexOf(".");
  return [key.slice(0, Math.max(0, dot)), key.slice(dot + 1)];
}

const written = (value: unknown): string =>
  stringify(value, { collectionStyle: "flow", flowCollectionPadding: false, lineWidth: 0 }).trim();
