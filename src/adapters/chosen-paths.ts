/** Which paths of a large repository are shown to a planner? */
import { level } from "../prompting/message.ts";

/** At most `max` paths, and how many more there are. Every folder gets the same room; small ones are shown whole. */
export function chosenPaths(
  paths: readonly string[],
  max: number,
): { readonly files: readonly string[]; readonly filesLeftOut: number } {
  if (paths.length <= max) return { files: paths, filesLeftOut: 0 };
  const chosen = new Set<string>();
  choose({ paths, prefixChars: 0, depth: 0 }, max, chosen);
  const files = paths.filter((path) => chosen.has(path));
  return { files, filesLeftOut: paths.length - files.length };
}

type Folder = { readonly paths: readonly string[]; readonly prefixChars: number; readonly depth: number };

/** Bounds the recursion: below this depth, a folder's paths are one list. */
const MAX_DEPTH = 20;

/** The folder's own files and each of its folders get the same room; a remainder goes to the first ones. */
function choose(folder: Folder, room: number, chosen: Set<string>): void {
  if (folder.paths.length <= room) {
    for (const path of folder.paths) chosen.add(path);
    return;
  }
  const { own, folders } = partsIn(folder);
  const sizes = [own.length, ...folders.map(({ paths }) => paths.length)];
  const share = level(sizes, room);
  let rest = room - sizes.reduce((sum, size) => sum + Math.min(size, share), 0);
  const roomOf = (size: number) => {
    if (size <= share || rest === 0) return Math.min(size, share);
    rest -= 1;
    return share + 1;
  };
  for (const path of own.slice(0, roomOf(own.length))) chosen.add(path);
  for (const part of folders) choose(part, roomOf(part.paths.length), chosen);
}

function partsIn({ paths, prefixChars, depth }: Folder) {
  const own: string[] = [];
  const byName = new Map<string, string[]>();
  for (const path of paths) {
    const slash = depth < MAX_DEPTH ? path.indexOf("/", prefixChars) : -1;
    const name = path.slice(prefixChars, slash);
    const found = slash === -1 ? own : byName.get(name);
    if (found) found.push(path);
    else byName.set(name, [path]);
  }
  const folders = [...byName].map(
    ([name, inside]): Folder => ({
      paths: inside,
      prefixChars: prefixChars + name.length + 1,
      depth: depth + 1,
    }),
  );
  return { own, folders };
}
