/** Checks a fleet from a machine that wants to work for it: its database, this machine's role there, and its remote. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { type Failed, hasFailed } from "../../core/result.ts";
import type { FleetFacts } from "../../ports/inspection.ts";
import type { Environment } from "../../ports/project.ts";
import { openDatabase } from "../fleet/open-database.ts";
import { openEndsOf } from "../fleet/role-fences.ts";
import { schemaProblem } from "../fleet/schema.ts";
import { listWorkers, SILENT_MS } from "../fleet/workers.ts";
import { git, inGitDir } from "../git/git.ts";
import { GitRemote } from "../objects/remote.ts";

/** `remote`: an address, or the name of a remote of the repository in `folder`. */
export async function inspectFleet(
  env: Environment,
  { schema, remote }: { readonly schema: string; readonly remote: string },
  folder: string,
  signal: AbortSignal,
): Promise<FleetFacts> {
  return {
    ...(await lookAtDatabase(env, schema, signal)),
    remote: await tryRemote(folder, remote, signal),
  };
}

async function lookAtDatabase(
  env: Environment,
  schema: string,
  signal: AbortSignal,
): Promise<Pick<FleetFacts, "database" | "machines" | "openEnds">> {
  const database = openDatabase(env, { schema });
  if (hasFailed(database)) return { database };
  await using _ = database;
  const problem = await schemaProblem(database, signal);
  if (problem) return { database: problem };
  const rows = await database.ask<{ readonly role: string; readonly reads: boolean }>(
    `SELECT current_user AS role, has_table_privilege('$S.run', 'SELECT') AS reads`,
    [],
    { patienceMs: 0 },
  );
  if (hasFailed(rows)) return { database: rows };
  const { role, reads } = rows[0]!;
  const workers = reads ? await listWorkers(database) : [];
  if (hasFailed(workers)) return { database: workers };
  const ready = workers.filter(({ state, silentMs }) => state === "ready" && silentMs < SILENT_MS);
  const slots = ready.reduce((sum, { capacity }) => sum + capacity, 0);
  const openEnds = reads ? await openEndsOf(database) : [];
  if (hasFailed(openEnds)) return { database: openEnds };
  return {
    database: { role, readsRuns: reads },
    ...(reads && { machines: { ready: ready.length, slots }, openEnds }),
  };
}

/** Pushes an empty commit to the remote under a name of its own, and removes it. */
async function tryRemote(folder: string, remote: string, signal: AbortSignal): Promise<FleetFacts["remote"]> {
  const place = await mkdtemp(path.join(tmpdir(), "skein-doctor-"));
  try {
    const url = await addressOf(folder, remote, signal);
    if (url === undefined) return "unknown";
    const made = await git({ folder: place, args: ["init", "--quiet", "--bare", place] }, signal);
    if (!made.ok) return { failure: made.failure };
    const there = new GitRemote({ gitDir: place, remote: url, patienceMs: 0 });
    const listed = await there.list(["refs/skein/fleet/"], signal);
    if (hasFailed(listed)) return listed;
    const commit = await emptyCommit(place, signal);
    if (typeof commit !== "string") return commit;
    const ref = `refs/skein/fleet/doctor/${process.pid}-${Date.now()}`;
    const pushed = await there.push([{ ref, to: commit, expected: "" }], signal);
    if (pushed === "pushed") await there.push([{ ref, to: "", expected: commit }], signal);
    return { mayPush: pushed === "pushed" };
  } finally {
    await rm(place, { recursive: true, force: true });
  }
}

/** The remote's address; undefined if no remote has this name here. */
async function addressOf(folder: string, remote: string, signal: AbortSignal): Promise<string | undefined> {
  if (/[/:]/.test(remote)) return remote;
  const named = await git({ folder, args: ["remote", "get-url", "--", remote] }, signal);
  return named.ok ? named.out.trim() : undefined;
}

async function emptyCommit(gitDir: string, signal: AbortSignal): Promise<string | Failed> {
  const call = (args: readonly string[], input = "") => git({ ...inGitDir(gitDir), args, input }, signal);
  const tree = await call(["mktree"]);
  if (!tree.ok) return { failure: tree.failure };
  const as = ["-c", "user.name=Skein", "-c", "user.email=skein@localhost"];
  const made = await call([...as, "commit-tree", tree.out.trim(), "-m", "skein doctor --worker"]);
  return made.ok ? made.out.trim() : { failure: made.failure };
}
