/** Was every commit that the target ever pointed at gated? Said by git alone: its first-parent history and its notes. */
import { askGit } from "../../../compose/project.ts";
import type { RunView } from "../../../core/view/view.ts";

type Walk = { readonly proved: number; readonly unproved: readonly string[] };

/** The commit that the run started from is the user's: it needs no proof of ours. */
export async function walkTarget(
  folder: string,
  { run, base, landings }: Pick<RunView, "run" | "base" | "landings">,
  target: string,
): Promise<Walk> {
  const format = "--format=%x00%H%x00%N";
  const log = await askGit(folder, [
    "log",
    "--first-parent",
    `--notes=skein/${run}`,
    format,
    `${base}..${target}`,
  ]);
  const fields = (log ?? "").split("\0").slice(1);
  const found = new Map<string, string>();
  for (let i = 0; i + 1 < fields.length; i += 2) found.set(fields[i]!, fields[i + 1]!);
  const commits = new Set([...found.keys(), ...landings.map(({ commit }) => commit)]);
  const unproved = [...commits].filter((commit) => proofIn(found.get(commit) ?? "") !== "green");
  return { proved: commits.size - unproved.length, unproved };
}

function proofIn(note: string): unknown {
  try {
    return (JSON.parse(note) as { proof?: unknown }).proof;
  } catch {
    return undefined; // No note, or none of ours.
  }
}
