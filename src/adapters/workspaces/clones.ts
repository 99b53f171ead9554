/** Gives each job a workspace: a clone that shares the user's objects, from a pool that is reused. */
import { createHash } from "node:crypto";
import { readdir, rm } from "node:fs/promises";
import { basename, join } from "node:path";
import { type Failure, failure, messageOf } from "../../core/failure.ts";
import type { JobId } from "../../core/job.ts";
import { type Failed, failedWith, hasFailed } from "../../core/result.ts";
import type { DiskSpace, Keepsake, Kept, Want, Workspace, Workspaces } from "../../ports/workspaces.ts";
import { fields, parseJson } from "../../text/json.ts";
import { readBounded, readShort } from "../files/read-bounded.ts";
import { removeDurably, writeDurably } from "../files/write-whole.ts";
import type { Shelf } from "../git/shelf.ts";
import { patternsOf } from "./cut-tree.ts";
import { environmentOf } from "./environment.ts";
import { removeAll } from "./folders.ts";
import { keepAlso, keepWork, type Pause, type Work } from "./keep.ts";
import { leftoversIn, listBrought } from "./leftovers.ts";
import { type ProvisionOptions, Provisions } from "./provisions.ts";
import { shareBlocks } from "./share-blocks.ts";
import { clean, markMade, type Slot, slotAt, wipe } from "./slot.ts";
import { openSource, type Source } from "./source.ts";
import { spaceOf } from "./space.ts";

type CloneWorkspacesOptions = ProvisionOptions & {
  readonly repository: string;
  readonly folder: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Names of variables that are passed on, besides those that every program needs. */
  readonly pass?: readonly string[];
  /** Names of git filters that may run on workers' files; git-lfs always may. */
  readonly filters?: readonly string[];
  /** The limit of one file that is kept. */
  readonly maxFileBytes: number;
  readonly pause?: Pause;
  /** Whether workspaces for planning get copies and set-up like those for work. */
  readonly plansAreFull?: boolean;
  /** Whether agents' work trees are cut to the paths that they need. */
  readonly isSparse?: boolean;
  /** Prefix of the refs that hold the workspaces' commits and kept work; without it nothing is held. */
  readonly holds?: string;
  readonly shelf?: Shelf;
};

type Holder = {
  readonly job: JobId;
  readonly commit: string;
  readonly notices: readonly string[];
  readonly stale?: string;
  /** Work that was kept for good; without `commit` there was nothing to keep. */
  readonly final?: { readonly ref: string; readonly commit?: string; readonly left: readonly string[] };
};

/** Which job has a workspace, and for what. A gate's job name may have a suffix. */
type Held = { readonly job: JobId; readonly use: Want["use"] };

type Place = {
  readonly slot: Slot;
  readonly use: Want["use"];
  holder?: Holder;
  isBusy: boolean;
  /** The commit whose files are in it since it was last prepared. */
  commit?: string;
};

type Pool = { readonly source: Source; readonly places: Place[]; readonly provisions: Provisions };

export class CloneWorkspaces implements Workspaces {
  readonly #options: CloneWorkspacesOptions;
  readonly #folder: string;
  #opening: Promise<Pool | Failed> | undefined;

  constructor(options: CloneWorkspacesOptions) {
    this.#options = options;
    this.#folder = join(options.folder, "workspaces");
  }

  async take(want: Want, signal: AbortSignal): Promise<Workspace | Failed> {
    const pool = await this.#pool();
    if (hasFailed(pool)) return pool;
    if (!/^(?:[0-9a-f]{40}|[0-9a-f]{64})$/.test(want.commit)) {
      return failedWith("repository", `${JSON.stringify(want.commit)} is not the full name of a commit`);
    }
    const place = this.#reserve(pool.places, want);
    try {
      const holder = await this.#prepare(pool, place, want, signal);
      if (hasFailed(holder)) return holder;
      place.holder = holder;
      return this.#workspace(pool, place.slot, holder);
    } catch (thrown) {
      return { failure: broken(place.slot, "made ready", thrown) };
    } finally {
      place.isBusy = false;
    }
  }

  async keep(workspace: Workspace, as: Keepsake, signal: AbortSignal): Promise<Kept | Failed> {
    const pool = await this.#pool();
    if (hasFailed(pool)) return pool;
    const place = holding(pool, workspace);
    const holder = place?.holder;
    if (!place || !holder)
      return failedWith("repository", `${workspace.job} does not hold ${workspace.folder}`);
    const { maxFileBytes, pause, holds, shelf } = this.#options;
    const { slot } = place;
    const { source } = pool;
    const { final } = holder;
    try {
      const held = { ...(holds !== undefined && { holds }), ...(shelf && { shelf }) };
      const work = { slot, source, commit: workspace.commit, maxFileBytes, ...(pause && { pause }), ...held };
      if (final && (final.ref === as.ref || as.isFinal)) {
        const isNamed = final.ref === as.ref || final.commit === undefined;
        const wrong = isNamed ? undefined : await keepAlso(work, as, final.commit);
        return wrong ?? { commit: final.commit, left: final.left };
      }
      const kept = await keepWork(work, as, signal);
      if (hasFailed(kept)) return { failure: inFolder(slot, kept.failure) };
      if (as.isFinal) {
        const { commit, left } = kept;
        const said = { ref: as.ref, ...(commit !== undefined && { commit }), left: left.slice(0, MAX_LEFT) };
        await writeDurably(slot.holder, JSON.stringify({ ...holder, final: said }));
        place.holder = { ...holder, final: said };
      }
      return kept;
    } catch (thrown) {
      return { failure: broken(slot, "kept", thrown) };
    }
  }

  async release(workspace: Workspace, isSpoilt = false): Promise<void> {
    const pool = await this.#pool();
    const place = hasFailed(pool) ? undefined : holding(pool, workspace);
    if (!place) return;
    place.isBusy = true;
    try {
      await this.#options.programs.endLeftovers(workspace.job);
      await removeDurably(place.slot.holder); // Otherwise later files in it would be taken for this job's.
      if (isSpoilt) delete place.commit;
      await (isSpoilt || place.use === "probe" ? removeAll(place.slot.folder) : wipe(place.slot));
    } catch {
      // A failing disk fails the next holder as well, who makes the slot anew and reports it.
    } finally {
      delete place.holder;
      place.isBusy = false;
    }
  }

  async heldBy(job: JobId): Promise<Workspace | undefined> {
    const pool = await this.#pool();
    if (hasFailed(pool)) return undefined;
    const place = pool.places.find(({ holder }) => holder?.job === job);
    return place?.holder && this.#workspace(pool, place.slot, place.holder);
  }

  async leftovers(workspace: Workspace, signal: AbortSignal): ReturnType<Workspaces["leftovers"]> {
    const pool = await this.#pool();
    if (hasFailed(pool)) return pool;
    const place = holding(pool, workspace);
    if (!place) return failedWith("repository", `${workspace.job} does not hold ${workspace.folder}`);
    return leftoversIn(place.slot, pool.source, signal);
  }

  /** Every job that holds a workspace, also from an earlier engine; none if the repository cannot be opened. */
  async holders(): Promise<readonly Held[]> {
    const pool = await this.#pool();
    if (hasFailed(pool)) return [];
    return pool.places.flatMap(({ holder, use }) => (holder ? [{ job: holder.job, use }] : []));
  }

  /** Frees the disk space of all workspaces that no job holds. Returns those that stay, and why. */
  async close(): Promise<readonly string[]> {
    const pool = await this.#pool();
    if (hasFailed(pool)) return [pool.failure.message];
    const isFree = ({ holder, isBusy }: Place) => holder === undefined && !isBusy;
    const free = pool.places.filter(isFree).map(({ slot }) => slot.folder);
    const stay = pool.places.filter((place) => !isFree(place)).map(staying);
    this.#opening = undefined;
    await this.#letGo(pool, free);
    pool.source.refs.close();
    const left = await Promise.all(
      free.map((folder) => removeAll(folder).then(() => [], notRemoved(folder))),
    );
    if (stay.length === 0) await rm(this.#folder, { recursive: true, force: true }).catch(() => {}); // Empty, or reported above.
    return [...stay, ...left.flat()];
  }

  async space(): Promise<DiskSpace> {
    const names = await readdir(this.#folder).catch(() => []);
    return spaceOf(
      this.#options.folder,
      names.map((name) => slotAt(this.#folder, name).tree),
    );
  }

  /** Ends the process that moves refs. Workspaces stay, and the next call starts it again. */
  async leave(): Promise<void> {
    const pool = await this.#opening;
    if (pool && !hasFailed(pool)) pool.source.refs.close();
  }

  /** Has no caller's signal, because other callers wait for it as well. */
  async #pool(): Promise<Pool | Failed> {
    this.#opening ??= this.#open(NEVER);
    const pool = await this.#opening;
    if (hasFailed(pool)) this.#opening = undefined;
    return pool;
  }

  async #open(signal: AbortSignal): Promise<Pool | Failed> {
    const source = await openSource(this.#options.repository, this.#options.filters ?? [], signal);
    if (hasFailed(source)) return source;
    const { maxFileBytes } = this.#options;
    const places: Place[] = [];
    for (const name of await readdir(this.#folder).catch(() => [])) {
      const use = /^(agent|gate|plan|probe)-[1-9][0-9]*$/.exec(name)?.[1] as Want["use"] | undefined;
      if (use === undefined) continue;
      const slot = slotAt(this.#folder, name);
      const holder = await readHolder(slot);
      const isLost = holder === "damaged" && !(await isRescued({ slot, source, maxFileBytes }, signal));
      places.push({ slot, use, isBusy: isLost, ...(typeof holder === "object" && { holder }) });
    }
    return { source, places, provisions: new Provisions(source, this.#options) };
  }

  /**
   * Awaits nothing, so that two jobs never get the same place. Prefers a place that has the wanted commit; for a
   * fresh workspace, a place that was spoilt.
   */
  #reserve(places: Place[], { job, use, commit, isFresh }: Want): Place {
    const free = (place: Place) => place.use === use && !place.isBusy && place.holder === undefined;
    const held = (place: Place) => place.use === use && !place.isBusy && place.holder?.job === job;
    const ready = (place: Place) => free(place) && place.commit === commit;
    const spoilt = (place: Place) => isFresh === true && free(place) && place.commit === undefined;
    let place = places.find(held) ?? places.find(spoilt) ?? places.find(ready) ?? places.find(free);
    if (!place) {
      const taken = new Set(places.map(({ slot }) => slot.name));
      let number = 1;
      while (taken.has(`${use}-${number}`)) number += 1;
      place = { slot: slotAt(this.#folder, `${use}-${number}`), use, isBusy: true };
      places.push(place);
    }
    place.isBusy = true;
    return place;
  }

  /** The record of the holder is written last: before it, the content of the slot belongs to no job. */
  async #prepare(pool: Pool, place: Place, want: Want, signal: AbortSignal): Promise<Holder | Failed> {
    const { slot } = place;
    if (place.holder) await this.#options.programs.endLeftovers(want.job);
    await removeDurably(slot.holder);
    delete place.holder;
    delete place.commit;
    const cut = this.#options.isSparse && want.use === "agent" ? patternsOf(want.paths ?? []) : undefined;
    if (want.isFresh || cut !== undefined) await removeAll(slot.folder);
    const unheld = await this.#hold(pool, slot, want.commit);
    if (unheld) return unheld;
    const isRead = want.use === "plan" && this.#options.plansAreFull !== true;
    const provided = await pool.provisions.find(isRead);
    const replaced = [...provided.included, ...provided.shared];
    const hidden = [...replaced, ...provided.copied];
    const kept = want.use === "agent" ? pool.provisions.copiesIn(slot, provided) : [];
    const environment = this.#environment(pool, slot);
    const fill = () => this.#fill(pool, place, { ...want, environment }, signal);
    const keepsIgnored = want.use === "gate";
    const wish = { commit: want.commit, keepsIgnored, hidden, replaced, kept, fill, ...(cut && { cut }) };
    const cleaned = await clean(slot, pool.source, wish, signal);
    if (hasFailed(cleaned)) return { failure: inFolder(slot, cleaned.failure) };
    const provision = await pool.provisions.provide(
      {
        slot,
        environment,
        provided,
        job: want.job,
        isRead,
        isFresh: cleaned.isFresh || want.use === "agent",
        isUnconfined: want.isUnconfined === true,
        onStep: want.onStep ?? (() => {}),
      },
      signal,
    );
    if ("failure" in provision) {
      // In a used workspace the set-up may have failed because of files that were left there.
      const isDoubtful = provision.failure.kind === "setup" && want.use === "gate" && !cleaned.isFresh;
      return isDoubtful ? this.#prepare(pool, place, { ...want, isFresh: true }, signal) : provision;
    }
    // A cut tree is not for other jobs: without the mark the next holder makes it anew.
    const isMade = cleaned.isFresh && want.use !== "probe" && cut === undefined;
    const isBare = hidden.length === 0 && (this.#options.setup ?? "").trim() === "";
    if (isMade && keepsIgnored) await listBrought(slot, pool.source, isBare, signal);
    if (isMade) await markMade(slot, pool.source);
    const { notices, stale } = provision;
    const holder = { job: want.job, commit: want.commit, notices, ...(stale !== undefined && { stale }) };
    await writeDurably(slot.holder, JSON.stringify(holder));
    if (cut === undefined) place.commit = want.commit;
    return holder;
  }

  /** Fills a slot from any free place with the same files, whether of an agent, a planner or a gate. */
  async #fill(
    { places, source }: Pool,
    { slot: to }: Place,
    { job, commit, environment }: Pick<Want, "job" | "commit"> & Pick<Workspace, "environment">,
    signal: AbortSignal,
  ): Promise<void> {
    const { programs, limits } = this.#options;
    const from = places.find((one) => !one.isBusy && !one.holder && one.commit === commit)?.slot;
    if (from)
      await shareBlocks({ from, to, commit, source, programs, by: { job, environment, limits } }, signal);
  }

  /** Holds a slot's commit by a ref: a clone shares the user's objects, and every branch may leave that commit. */
  async #hold({ source }: Pool, { name }: Slot, commit: string): Promise<Failed | undefined> {
    const { holds } = this.#options;
    const held =
      holds === undefined ? undefined : await source.refs.move([`update ${holds}/${name} ${commit}`]);
    return held === undefined || held.ok ? undefined : { failure: held.failure };
  }

  /** The remaining refs are dropped when the run is closed. */
  async #letGo({ source }: Pool, folders: readonly string[]): Promise<void> {
    const { holds } = this.#options;
    if (holds === undefined || folders.length === 0) return;
    await source.refs.move(folders.map((folder) => `delete ${holds}/${basename(folder)}`));
  }

  #environment(pool: Pool, slot: Slot): Record<string, string> {
    return environmentOf({
      from: this.#options.environment,
      pass: this.#options.pass ?? [],
      temporary: slot.temporary,
      ceiling: slot.folder,
      person: pool.source.person,
      settings: pool.source.filters,
      isTerminal: isOfGate(slot),
    });
  }

  #workspace(pool: Pool, slot: Slot, { job, commit, notices, stale }: Holder): Workspace {
    const own = { job, commit, notices, ...(stale !== undefined && { stale }) };
    return { ...own, folder: slot.tree, environment: this.#environment(pool, slot) };
  }
}

const NEVER = new AbortController().signal;

const isOfGate = ({ name }: Slot): boolean => /^(?:gate|probe)-/.test(name);

const staying = ({ slot, holder }: Place): string =>
  `${slot.folder}: ${holder ? `what ${holder.job} made there could not be kept` : "whose it was is not known, and it could not be kept"}`;

const notRemoved = (folder: string) => (error: unknown) => [`${folder}: ${messageOf(error)}`];

const holding = (pool: Pool, workspace: Workspace): Place | undefined =>
  pool.places.find(({ slot, holder }) => slot.tree === workspace.folder && holder?.job === workspace.job);

async function readHolder(slot: Slot): Promise<Holder | "nobody" | "damaged"> {
  const read = await readBounded(slot.holder, MAX_HOLDER_BYTES);
  if (read.is === "none") return "nobody";
  if (read.is !== "bytes") return "damaged";
  const value = fields(parseJson(read.bytes.toString())); // Half of a file gives no fields.
  const { job, commit, notices } = value;
  const isWhole = typeof job === "string" && typeof commit === "string" && Array.isArray(notices);
  return isWhole ? (value as Holder) : "damaged";
}

/** Its longest parts are the notices: one for each of at most a thousand files. */
const MAX_HOLDER_BYTES = 8_000_000;
const MAX_LEFT = 100;

/**
 * Keeps the work of a slot whose record is lost, beside other salvaged work. If that fails now, the work stays in
 * its place, which no job gets, until a later engine can keep it.
 */
async function isRescued(work: Omit<Work, "commit">, signal: AbortSignal): Promise<boolean> {
  const { slot } = work;
  const commit = await readShort(slot.start);
  const run = createHash("sha256").update(slot.folder).digest("hex").slice(0, 8);
  const ref = `refs/skein/salvage/found/${run}-${slot.name}-${commit.slice(0, 8)}`;
  if (commit === "") return false; // It was written before the record, so it exists but cannot be read now.
  const message = `Found in ${slot.name}, whose record was damaged`;
  const kept = await keepWork({ ...work, commit }, { ref, message }, signal).catch(() => undefined);
  if (!kept || (hasFailed(kept) && kept.failure.kind !== "agent-failed")) return false;
  await removeAll(slot.folder).catch(() => {}); // The next holder makes it anew, and reports what is in the way.
  return true;
}

const broken = (slot: Slot, what: string, thrown: unknown): Failure =>
  inFolder(slot, failure("repository", `it could not be ${what}: ${messageOf(thrown)}`));

function inFolder(slot: Slot, why: Failure): Failure {
  const next = DISK.test(why.message)
    ? "make room on that disk, or make the folder writable"
    : (why.next ?? "check the repository with git fsck");
  return failure(why.kind, `workspace ${slot.folder}: ${why.message}`, next);
}

/** Errors of a disk, in the words of Node and of git. */
const DISK =
  /ENOSPC|EDQUOT|EROFS|EACCES|no space left|diskspace|read-only|permission denied|unable to (?:write|create)|write error/i;
