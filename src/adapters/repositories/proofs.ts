/** Proves landings by notes on their commits under `refs/notes/skein/<run>`, as `git notes` shows them. */
import type { FoundLanding, Member } from "../../core/job.ts";
import { type Failed, hasFailed } from "../../core/result.ts";
import type { TaskId } from "../../core/task.ts";
import type { LandingProof } from "../../ports/repository.ts";
import {
  BLOB,
  type Commit,
  parseTree,
  TREE,
  type TreeEntry,
  treeBytes,
  writeObject,
} from "../git/objects.ts";
import { proofsOf } from "./names.ts";
import { broken, readCommit, type Store, writeCommit } from "./store.ts";

type ProofNote = LandingProof & { readonly onto: string; readonly target: string };

/** The next state of a run's notes, which no ref names yet. `old` is undefined for the first note. */
type WrittenProof = {
  readonly ref: string;
  readonly old: string | undefined;
  readonly commit: string;
  /** Other objects that were written for the proof. */
  readonly parts: readonly string[];
};

/**
 * Writes a note. Notes are in 256 folders, by the first two digits of their commit, so that each one costs the
 * same.
 */
export async function writeProof(
  store: Store,
  commit: string,
  note: ProofNote,
): Promise<WrittenProof | Failed> {
  const ref = proofsOf(note.run);
  const notes = await notesAt(store, ref);
  if (hasFailed(notes)) return notes;
  const { old, root } = notes;
  const [folder, name] = [commit.slice(0, 2), commit.slice(2)];
  const inside = await entriesOf(
    store,
    root.find((entry) => entry.name === folder && entry.mode === TREE)?.id,
  );
  if (hasFailed(inside)) return inside;
  const blob = await writeObject(store, "blob", `${JSON.stringify(note)}\n`);
  const subtree = await writeObject(
    store,
    "tree",
    treeBytes(withEntry(inside, { mode: BLOB, name, id: blob })),
  );
  const flat = root.filter((entry) => entry.name !== commit); // Git writes notes without folders while they are few.
  const tree = await writeObject(
    store,
    "tree",
    treeBytes(withEntry(flat, { mode: TREE, name: folder, id: subtree })),
  );
  const parents = old === undefined ? [] : [old.id];
  const message = `Prove the landing of ${commit}\n`;
  return {
    ref,
    old: old?.id,
    commit: await writeCommit(store, { tree, parents, message }),
    parts: [blob, subtree, tree],
  };
}

/**
 * Reads a run's notes. If they are missing or unreadable, they may have been pruned: the object backup puts back
 * what it has, and they are read again.
 */
async function notesAt(store: Store, ref: string, isLast = false): Promise<Notes | Failed> {
  const old = await readCommit(store, ref);
  const root = old && hasFailed(old) ? old : await entriesOf(store, old?.tree);
  if (!isLast && (old === undefined || hasFailed(root))) {
    await store.shelf.putBack();
    return notesAt(store, ref, true);
  }
  if (hasFailed(root)) return root;
  return { old: old as Notes["old"], root };
}

type Notes = {
  readonly old: ({ readonly id: string } & Commit) | undefined;
  readonly root: readonly TreeEntry[];
};

const withEntry = (entries: readonly TreeEntry[], added: TreeEntry): readonly TreeEntry[] => [
  ...entries.filter(({ name }) => name !== added.name),
  added,
];

async function entriesOf(store: Store, tree: string | undefined): Promise<readonly TreeEntry[] | Failed> {
  if (tree === undefined) return [];
  const read = await store.reader.contents(tree);
  return read.is === "found"
    ? parseTree(read.content, store.format)
    : broken(
        `the notes' tree ${tree} cannot be read: ${read.is === "failed" ? read.why : "it is not there"}`,
      );
}

/** `onto`: where the target was before; the commits in between are proved with this one. */
type Proved = FoundLanding & { readonly onto: string | undefined };

/** Those of these commits that carry a proof of a landing on this target, in the same order. */
export async function provedLandings(
  store: Store,
  notes: { readonly ref: string; readonly target: string; readonly commits: readonly string[] },
): Promise<readonly Proved[] | Failed> {
  const found = await notesAt(store, notes.ref);
  if (hasFailed(found)) return found;
  const { old: at } = found;
  if (at === undefined) return [];
  const trees = new Map<string, readonly TreeEntry[]>();
  const landings: Proved[] = [];
  for (const commit of notes.commits) {
    const blob = await noteOf(store, { tree: at.tree, rest: commit, trees });
    if (blob === undefined) continue;
    if (typeof blob !== "string") return blob;
    const said = await saidIn(store, blob, notes.target);
    if (said === undefined) continue;
    if (hasFailed(said)) return said;
    landings.push({ commit, ...said });
  }
  return landings;
}

/** Finds a commit's note. Git spreads notes over more folders as their number grows. */
async function noteOf(
  store: Store,
  where: { readonly tree: string; readonly rest: string; readonly trees: Map<string, readonly TreeEntry[]> },
): Promise<string | undefined | Failed> {
  const { tree, rest, trees } = where;
  const entries = trees.get(tree) ?? (await entriesOf(store, tree));
  if (hasFailed(entries)) return entries;
  trees.set(tree, entries);
  const note = entries.find(({ name, mode }) => name === rest && mode !== TREE);
  if (note !== undefined) return note.id;
  const folder = entries.find(({ name, mode }) => mode === TREE && name === rest.slice(0, 2));
  return folder && noteOf(store, { tree: folder.id, rest: rest.slice(2), trees });
}

/** Undefined if the note is not a proof of Skein's, because any program can write a note. */
async function saidIn(
  store: Store,
  blob: string,
  target: string,
): Promise<Omit<Proved, "commit"> | undefined | Failed> {
  const size = await store.reader.info(blob);
  if (size.is === "found" && size.bytes > MAX_NOTE_BYTES) return undefined;
  const read = await store.reader.contents(blob);
  if (read.is !== "found") return broken(`the note ${blob} cannot be read`);
  return readNote(read.content.toString(), target);
}

const MAX_NOTE_BYTES = 16 * 1024 * 1024;

function readNote(text: string, target: string): Omit<Proved, "commit"> | undefined {
  try {
    const note = JSON.parse(text) as { readonly [K in "target" | "members" | "onto"]?: unknown };
    if (note.target !== target || !Array.isArray(note.members)) return undefined;
    const members = note.members.map(({ task, attempt }: { task?: unknown; attempt?: unknown }): Member => {
      if (typeof task !== "string" || typeof attempt !== "number") throw new Error("no member");
      return { task: task as TaskId, attempt };
    });
    return { members, onto: typeof note.onto === "string" ? note.onto : undefined };
  } catch {
    return undefined; // It is not JSON, or not a proof of Skein's.
  }
}
