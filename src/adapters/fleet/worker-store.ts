/** A worker's store: commits from its mirror of the remote, files of the run from Postgres, in both directions. */
import { hasFailed } from "../../core/result.ts";
import type { Made, WorkerStore } from "../../ports/fleet-jobs.ts";
import { fileName } from "../agents/turn-files.ts";
import type { Mirror } from "../objects/mirror.ts";
import { outputRef } from "../objects/names.ts";
import type { WorkerFiles } from "./worker-files.ts";

type StoreParts = {
  readonly mirror: Mirror;
  readonly files: WorkerFiles;
  /** Set if this worker may not push. */
  readonly maxBundleBytes?: number;
};

export const workerStore = ({ mirror, files, maxBundleBytes }: StoreParts): WorkerStore => ({
  fetchCommits: (needs, signal) => mirror.fetch(needs, signal),
  fetchFiles: (permit, names) => files.fetch(permit, names),
  sendTranscripts: (offered) => files.send(offered, ["transcripts"]),
  sendFiles: (offered) => files.send(offered),
  handIn: async ({ offered, tries, ref, commit }, signal) => {
    const { run, job, permit, needs } = offered;
    const made: Made = { commit, as: ref.startsWith("refs/heads/") ? "branch" : "salvage" };
    if (maxBundleBytes === undefined)
      return (await mirror.push(outputRef(run, job, tries), commit, signal)) ?? made;
    const known = needs.map((need) => need.commit);
    const bytes = await mirror.bundle({ ref, known, maxBytes: maxBundleBytes }, signal);
    if (hasFailed(bytes)) return bytes;
    const bundle = `turns/${fileName(job)}.${tries}.bundle`;
    return (await files.put(permit, bundle, bytes)) ?? { ...made, bundle };
  },
});
