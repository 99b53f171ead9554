/** Estimates the disk space of a run's workspaces, and warns before the run starts if it is much. */
import type { Config } from "../../config/schema.ts";
import { maxGatesOf } from "../../config/to-parts.ts";
import { hasFailed } from "../../core/result.ts";
import type { Inspection, TreeFacts } from "../../ports/inspection.ts";
import type { Project } from "../../ports/project.ts";
import { plural } from "../../text/words.ts";

export type Room = { readonly workspaces: number; readonly bytes: number };

/** `isTooMuch`: the disk of the state folder has less free space than that. */
type RoomTold = { readonly text: string; readonly isTooMuch: boolean };

type Asked = Pick<Project, "located" | "stateFolder"> & { readonly config: Config };

/** Undefined if it is little or unknown. */
export async function roomOfRun(
  { located, stateFolder, config }: Asked,
  commit: string,
  { repository, places }: Pick<Inspection, "repository" | "places">,
): Promise<RoomTold | undefined> {
  const signal = AbortSignal.timeout(MAX_MS);
  const around = await repository.around(located.top, signal);
  const tree = hasFailed(around) ? undefined : await repository.tree(around, commit, signal);
  if (tree === undefined) return undefined;
  const room = roomFor(tree, config);
  const disk = await places.disk(stateFolder);
  const isTooMuch = disk !== undefined && disk.freeBytes < room.bytes;
  if (!isTooMuch && room.bytes < SAID_BYTES) return undefined;
  const free = disk === undefined ? "" : `; ${sizeText(disk.freeBytes)} are free`;
  const next = isTooMuch
    ? ": use fewer workers, free some space, or set SKEIN_STATE_DIR to another disk"
    : "";
  return { text: `${needText(room, tree)}${free}${next}`, isTooMuch };
}

/** In ms: the run does not wait longer for an estimate. */
const MAX_MS = 5_000;
/** Less than this is not worth a line. */
const SAID_BYTES = 1_000_000_000;

/** The most that the workspaces take, without what is copied into them or built there. */
export const roomFor = ({ bytes }: TreeFacts, config: Config): Room => {
  const workspaces = config.workers + config.planners + maxGatesOf(config) + 1; // One more for the next candidate.
  return { workspaces, bytes: bytes * workspaces };
};

export function needText(room: Room, { bytes, isCut }: TreeFacts): string {
  const [each, all] = [bytes, room.bytes].map((size) => (isCut ? "more than " : "") + sizeText(size));
  return (
    `${plural(room.workspaces, "workspace")} of ${each} take ${isCut ? "" : "up to "}${all}, ` +
    "plus what is copied or built there"
  );
}

/** "820 kB", "1.4 GB": powers of 1,000, as disks are sold. */
export function sizeText(bytes: number): string {
  const units = ["bytes", "kB", "MB", "GB", "TB"];
  const step = bytes < 1_000 ? 0 : Math.min(units.length - 1, Math.floor(Math.log10(bytes) / 3));
  const count = bytes / 1_000 ** step;
  return `${step === 0 || count >= 10 ? Math.round(count) : count.toFixed(1)} ${units[step]}`;
}
