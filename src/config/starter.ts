/** Writes the first skein.yaml (`skein init`): settings detected in the repository, and the most common keys. */
import { stringify } from "yaml";
import { KEYS } from "./keys.ts";
import { schema } from "./schema.ts";

type Found = {
  readonly gate: { readonly found: string; readonly commands: readonly string[] };
  /** How a workspace gets its dependencies: by a command, or as a copy of ignored folders. */
  readonly setup?: {
    readonly command: string;
    readonly lockFile: string;
    readonly isNeeded: boolean;
    readonly lacks?: readonly string[];
    readonly why: string;
    readonly copy?: readonly string[];
    /** A gate that uses the installed packages, if the detected one does not. */
    readonly gate?: string;
  };
};

type Shown = {
  readonly key: string;
  readonly notes?: readonly string[];
  readonly example?: unknown;
  readonly isSet?: boolean;
};

/** A group's line is not commented out even if all its keys are, so that each key can be enabled alone. */
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
  "# Skein's settings for this repository.",
  "#",
  "# Every setting is optional. Lines that are commented out show the default, or an example if there is none.",
  "# `skein doctor --all` shows every key, its current value, and where that comes from.",
];

const shownKeys = ({ gate, setup }: Found): readonly Shown[] => [
  {
    key: "agent",
    example: ["./my-agent.sh"],
    notes: ["Without it, Skein looks for one: `skein doctor` shows which. For example:"],
  },
  { key: "planner", example: ["./my-planner.sh"], notes: ["The default is the agent. For example:"] },
  gateKey(gate, setup),
  { key: "gateTimeout" },
  { key: "workers" },
  { key: "deliver" },
  setupKey(setup),
  setup?.copy && setup.isNeeded
    ? { key: "workspace.copy", example: setup.copy, notes: [setup.why], isSet: true }
    : { key: "workspace.copy" },
  { key: "workspace.pass", example: ["MY_MODEL_KEY"], notes: ["The default is none. For example:"] },
  { key: "landing.strategy", notes: [`One of ${KEYS.get("landing.strategy")?.type.replaceAll(" |", ",")}.`] },
  { key: "timeout.work" },
  { key: "retry.maxFailed" },
  { key: "budget.dollars", example: 20 },
];

function setupKey(setup: Found["setup"]): Shown {
  const key = "workspace.setup";
  if (setup === undefined) return { key, example: "./prepare.sh" };
  const { command, lockFile, isNeeded, why, copy, lacks } = setup;
  const not = lacks && isNeeded && !copy ? [`It does not install ${lacks.join("; ")}.`] : [];
  return { key, example: command, notes: [`There is ${lockFile}. ${why}`, ...not], isSet: isNeeded && !copy };
}

function gateKey({ found, commands }: Found["gate"], setup: Found["setup"]): Shown {
  const key = "gate";
  if (commands.length === 0) {
    const notes = ['Here "auto" finds nothing, so landings are not gated. Set the commands that must pass:'];
    return { key, notes, example: ["./run-the-tests.sh"] };
  }
  const isOwnPython = setup?.isNeeded && setup.gate && commands.join() === "python3 -m pytest -q";
  return isOwnPython
    ? {
        key,
        notes: [`Here "auto" finds ${found}, which uses another Python.`],
        example: [setup.gate],
        isSet: true,
      }
    : { key, notes: [`Here "auto" finds ${found}`] };
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
