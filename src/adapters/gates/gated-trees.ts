/** Remembers trees that passed the gate in any run, so that an untouched base is not gated again. */
import { createHash } from "node:crypto";
import path from "node:path";
import * as z from "zod";
import { isGreen } from "../../core/gate.ts";
import { hasFailed } from "../../core/result.ts";
import { testsRanIn } from "../../core/rules/fewer-tests.ts";
import type { Gate, GatedTree, GateRun } from "../../ports/gate.ts";
import { parseJson } from "../../text/json.ts";
import { readShort } from "../files/read-bounded.ts";
import { writeDurably } from "../files/write-whole.ts";
import { git } from "../git/git.ts";
import type { GateRules } from "./rules.ts";

type Remembering = {
  readonly repository: string;
  /** The repository's own state folder. */
  readonly stateFolder: string;
  readonly rules: GateRules;
  /** What else affects the result besides tree and commands: the set-up, the sandbox, which programs are found. */
  readonly surroundings: string;
  readonly now: () => number;
};

/**
 * Wraps a gate. Only a pass is remembered: a failure is looked at again, since its cause may have been outside of
 * the tree. If the state file cannot be read or written, only a gate run more is needed.
 */
export function rememberingGate(gate: Gate, parts: Remembering): Gate {
  const run: Gate["run"] = async (tree, signal) => {
    const known = tree.mayReuse ? await passedBefore(tree, parts, signal) : undefined;
    if (known) return known;
    const ran = await gate.run(tree, signal);
    if (hasFailed(ran) || ran.setup || !hasPassed(ran)) return ran;
    await note(tree, ran, parts, signal).catch(() => {}); // The next run gates it again.
    return ran;
  };
  return {
    run,
    prepare: (tree) => gate.prepare(tree),
    probe: (tree, report, signal) => gate.probe(tree, report, signal),
    changes: (from, to, signal) => gate.changes(from, to, signal),
  };
}

/** Whether the run passed with something to run: commands without tests yet say nothing about the tree. */
const hasPassed = ({ report }: GateRun): boolean =>
  report.commands.length > 0 &&
  isGreen(report) &&
  report.commands.every(({ nothingYet }) => nothingYet !== true);

async function passedBefore(
  tree: GatedTree,
  parts: Remembering,
  signal: AbortSignal,
): Promise<GateRun | undefined> {
  const key = await keyOf(tree, parts, signal);
  const found = (await read(parts)).find((one) => one.key === key);
  if (key === undefined || !found || Math.abs(parts.now() - found.at) > MAX_AGE_MS) return undefined;
  const commands = found.commands.map((name) => {
    const { tests } = found.ran?.find(({ command }) => command === name) ?? {};
    return { name, green: true, failures: [], ...(tests !== undefined && { tests }) };
  });
  return { report: { commands }, problems: [], tail: "", passedAt: found.at };
}

async function note(tree: GatedTree, { report }: GateRun, parts: Remembering, signal: AbortSignal) {
  const key = await keyOf(tree, parts, signal);
  if (key === undefined) return;
  const commands = report.commands.map(({ name }) => name);
  // Without the names of tests, which would not fit into a file that is read whole.
  const ran = testsRanIn(report).map(({ command, tests }) => ({ command, tests }));
  const entry = { key, at: parts.now(), commands, ran };
  const trees = [...(await read(parts)).filter((one) => one.key !== key), entry].slice(-MAX_TREES);
  await writeDurably(fileIn(parts), `${JSON.stringify({ version: 1, trees })}\n`);
}

async function keyOf(
  { commit, rules }: GatedTree,
  { repository, rules: gateRules, surroundings }: Remembering,
  signal: AbortSignal,
): Promise<string | undefined> {
  const asked = { folder: repository, args: ["rev-parse", "--verify", "--quiet", `${commit}^{tree}`] };
  const [tree, found] = await Promise.all([git(asked, signal), gateRules.of(rules, signal)]);
  if (!tree.ok || hasFailed(found)) return undefined;
  const parts = [1, tree.out.trim(), found.commands, surroundings, process.version, process.platform];
  return createHash("sha256").update(JSON.stringify(parts)).digest("hex");
}

const TREE = z.object({
  ...{ key: z.string(), at: z.number(), commands: z.array(z.string()) },
  ran: z.array(z.object({ command: z.string(), tests: z.number() })).optional(),
});
const GATED = z.object({ version: z.literal(1), trees: z.array(TREE) });

const fileIn = ({ stateFolder }: Remembering) => path.join(stateFolder, "gated.json");
const read = async (parts: Remembering) =>
  GATED.safeParse(parseJson(await readShort(fileIn(parts)))).data?.trees ?? [];

/** A day: tools and services around the tree change, so a base that was idle for longer is gated anew. */
const MAX_AGE_MS = 24 * 60 * 60_000;
/** Room for the tips of some branches, and what landed on them last. */
const MAX_TREES = 50;
