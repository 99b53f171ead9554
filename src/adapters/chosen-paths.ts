/** Chooses which paths of a large repository a planner is shown. */
import { level } from "../prompting/message.ts";

/** At most `max` paths, and how many more there are. Every folder gets the same room; small folders are shown whole. */
export function chosenPaths(
  paths: readonly string[],
  max: number,
): { readonly files: readonly string[]; readonly filesLeftOut: number } {
  if (paths.length <= max) return { files: paths, filesLeftOut: 0 };
  const folders = [...Map.groupBy(paths, (path) => path.slice(0, path.lastIndexOf("/") + 1)).values()];
  const sizes = folders.map(({ length }) => length);
  const share = Math.max(1, level(sizes, max));
  const files = folders.flatMap((inside) => inside.slice(0, share)).slice(0, max);
  return { files: files.sort(), filesLeftOut: paths.length - files.length };
}
