/** Finds a file that Skein ships, such as its prompts, the same way from the sources and from the bundle. */
import { findPackageJSON } from "node:module";
import path from "node:path";

const PACKAGE = path.dirname(findPackageJSON(import.meta.url)!);

export const ownFile = (name: string): string => path.join(PACKAGE, name);
