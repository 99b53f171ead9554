/** Explains error codes of SQLite and the system to people, with what to do about them. */
import { utimesSync } from "node:fs";
import { messageOf } from "../../core/failure.ts";

type Words = { readonly why: string; readonly next?: string; readonly isReadOnly?: true };

export function wordsOf(error: unknown): Words {
  const { errcode, code } = Object(error) as { errcode?: unknown; code?: unknown };
  const known =
    typeof errcode === "number"
      ? (BY_SQLITE[errcode] ?? BY_SQLITE[errcode & PRIMARY])
      : typeof code === "string" && BY_SYSTEM[code];
  if (!known) return { why: messageOf(error) };
  return { ...known, why: `${known.why} (${messageOf(error)})` };
}

/** Explains a failed write; SQLite has other codes for a disk that has become read-only. */
export function wordsOfWriting(error: unknown, file: string): Words {
  try {
    // An access check would not tell, because the system only notices a read-only disk when something is written.
    utimesSync(file, new Date(), new Date());
  } catch (refused) {
    if ((refused as NodeJS.ErrnoException).code === "EROFS") return wordsOf(refused);
  }
  return wordsOf(error);
}

/** Masks the primary error code: the lower byte of SQLite's extended codes. */
const PRIMARY = 0xff;

const FULL: Words = { why: "the disk is full", next: "free some space, then `skein resume`" };
const READ_ONLY: Words = {
  why: "it may only be read",
  isReadOnly: true,
  next: "make its folder writable, or set SKEIN_STATE_DIR to one that is",
};
const DAMAGED: Words = { why: "it is damaged", next: "restore it from a backup, or start a new run" };

const BY_SQLITE: Readonly<Record<number, Words>> = {
  3: READ_ONLY,
  5: { why: "another process keeps it locked", next: "wait for that process, or end it, then try again" },
  6: { why: "another part of this process keeps it locked", next: "try again" },
  7: { why: "there is not enough memory", next: "end other programs, then `skein resume`" },
  8: READ_ONLY,
  10: { why: "the disk reports an error", next: "check the disk and its limits, then `skein resume`" },
  11: DAMAGED,
  13: FULL,
  4874: FULL, // The index of the write-ahead log cannot grow, which SQLite reports as a disk error.
  14: { why: "it cannot be opened", next: "check that its folder exists and may be written" },
  26: { why: "it is damaged, or no database at all", next: "restore it from a backup, or start a new run" },
};

const BY_SYSTEM: Readonly<Record<string, Words>> = {
  ENOSPC: FULL,
  EDQUOT: { why: "the quota of the disk is used up", next: "free some space, then `skein resume`" },
  EFBIG: { why: "a file may not grow further", next: "raise the limit on file sizes, then `skein resume`" },
  EROFS: READ_ONLY,
  EACCES: READ_ONLY,
  EPERM: READ_ONLY,
  ENOTDIR: {
    why: "a file is where a folder should be",
    next: "check the state folder, or set SKEIN_STATE_DIR",
  },
  ENOENT: { why: "its folder does not exist", next: "check the state folder, or set SKEIN_STATE_DIR" },
  EMFILE: { why: "too many files are open", next: "raise the limit on open files (ulimit -n)" },
};
