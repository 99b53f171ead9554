/** Proposes how workspaces are set up here, from the files of a commit and what is installed in the user's checkout. */
import { existsSync } from "node:fs";
import { readdir } from "node:fs/promises";
import path from "node:path";
import type { AgentLooks } from "../../ports/agent-looks.ts";
import type { SetupFacts } from "../../ports/inspection.ts";
import type { Located } from "../../ports/project.ts";
import { readShort } from "../files/read-bounded.ts";
import { type Installed, proposeSetup, SETUP_FILES } from "../gates/propose-setup.ts";
import { git } from "../git/git.ts";
import { notInstalled } from "./not-installed.ts";

/** Undefined if nothing has to be installed, as far as can be seen. */
export async function inspectSetup(
  { top, gitDir }: Located,
  commit: string,
  signal: AbortSignal,
  programs?: Pick<AgentLooks["programs"], "unstartable">,
): Promise<SetupFacts | undefined> {
  const listed = await git(
    { folder: top, args: ["ls-tree", "-z", "--name-only", "--full-tree", commit, "--", ...SETUP_FILES] },
    signal,
  );
  const texts = new Map<string, string>();
  for (const name of listed.out.split("\0").filter((one) => one !== "")) {
    const args = ["cat-file", "blob", `${commit}:${name}`];
    const isRead = !/lock|\.yarnrc/.test(name); // Of a lock file, only its presence matters.
    texts.set(
      name,
      isRead ? (await git({ folder: top, args, maxBytes: MAX_BYTES, cut: true }, signal)).out : "",
    );
  }
  const isBare = top === gitDir;
  const proposal = proposeSetup((name) => texts.get(name), isBare ? {} : await installedIn(top));
  if (proposal === undefined) return undefined;
  const { hasPrograms: _, ...facts } = proposal;
  const setup = isBare ? { ...facts, isNeeded: false } : facts;
  const [program = ""] = setup.command.split(" ");
  const all = { folder: top, args: ["ls-tree", "-r", "-z", "--name-only", "--full-tree", commit] };
  const [files, problem] = await Promise.all([
    git({ ...all, maxBytes: MAX_LIST_BYTES, cut: true }, signal),
    programs?.unstartable([program], top),
  ]);
  const paths = files.out.split("\0").filter((one) => one !== "");
  const textOf = (name: string) => texts.get(name) ?? (paths.includes(name) ? "" : undefined);
  const lacks = notInstalled({ setup, paths, textOf, ...(problem && { problem: problem.message }) });
  return lacks.length === 0 ? setup : { ...setup, lacks };
}

/** The beginning of a longer list is enough. */
const MAX_LIST_BYTES = 8_000_000;

const MAX_BYTES = 1_000_000;

async function installedIn(top: string): Promise<Installed> {
  const name = [".venv", "venv"].find((folder) => existsSync(path.join(top, folder, "pyvenv.cfg")));
  return {
    hasNodeModules: existsSync(path.join(top, "node_modules")),
    ...(name && { venv: { name, isEditable: await isEditable(top, path.join(top, name)) } }),
  };
}

/**
 * Whether the checkout itself is installed: an editable installation leaves a file beside the packages that names
 * its real place.
 */
async function isEditable(top: string, venv: string): Promise<boolean> {
  const versions = await readdir(path.join(venv, "lib")).catch(() => []);
  for (const version of versions) {
    const packages = path.join(venv, "lib", version, "site-packages");
    const names = await readdir(packages).catch(() => []);
    const links = names.filter((name) => /\.(?:pth|egg-link)$|^__editable__.*\.py$/.test(name));
    for (const name of links.slice(0, MAX_LINKS))
      if ((await readShort(path.join(packages, name))).includes(top)) return true;
  }
  return false;
}

const MAX_LINKS = 200;
