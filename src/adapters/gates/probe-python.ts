/** Where does a Python program take the packages of this tree from? Asked of the interpreter that the gate uses. */
import path from "node:path";

/** `sh`: runs a line as the gate's commands are run and gives what it wrote, nothing if it failed. */
export async function importedElsewhere(
  folder: string,
  lines: readonly string[],
  sources: readonly string[],
  sh: (line: string) => Promise<string>,
): Promise<readonly string[]> {
  const packages = packagesIn(sources);
  const python = lines.map(interpreterIn).find((found) => found !== undefined);
  if (packages.length === 0 || python === undefined) return [];
  const said = await sh(`${python} -c '${CODE}' ${packages.join(" ")}`);
  return said.split("\n").flatMap((line) => {
    const [, name, where] = /^(\w+)\t(\/.*)$/.exec(line) ?? [];
    return name === undefined || isInside(folder, where!) ? [] : [`${name} from ${where}`];
  });
}

const isInside = (folder: string, file: string) => !path.relative(folder, file).startsWith("..");

/** Those at the top, or in the folder where packages lie by habit. */
function packagesIn(sources: readonly string[]): readonly string[] {
  const names = sources.map((file) => /^(?:src\/|lib\/)?([A-Za-z_]\w*)(?:\/__init__)?\.py$/.exec(file)?.[1]);
  return [...new Set(names)].filter((name) => name !== undefined).slice(0, MAX_PACKAGES);
}

const MAX_PACKAGES = 5;

/** With the variables and the runner that stand before it; that of `pytest` is the one beside it. */
function interpreterIn(line: string): string | undefined {
  const [, before = "", folder = "", program = ""] = CALL.exec(line) ?? [];
  if (program === "") return undefined;
  if (program.startsWith("python")) return `${before}${folder}${program}`;
  if (folder !== "" || /\brun\b/.test(before)) return `${before}${folder}python`;
  const beside = `"$(dirname "$(command -v ${program})")/python"`;
  return `${before}"$(command -v ${beside} || command -v python3)"`;
}

const CALL =
  /((?:\w+=(?:"[^"]*"|'[^']*'|[^\s"'])*\s+)*(?:(?:uv|poetry|pdm|pipenv|hatch|rye)\s+run\s+(?:-\S+\s+)*)?)((?:[^\s"'=;&|()]*\/)?)\b(python[\d.]*|pytest|nosetests|tox)\b/;

/**
 * Looked up, and not imported: that would run it. Without the current folder, where the sources are unusable: what was
 * green did not take them from there.
 */
const CODE = `
import importlib.util, os, sys
here = os.path.realpath(os.getcwd())
sys.path = [p for p in sys.path if p and os.path.realpath(p) != here]
for name in sys.argv[1:]:
    try:
        spec = importlib.util.find_spec(name)
        print(name, spec.origin or list(spec.submodule_search_locations)[0], sep="\\t")
    except Exception:
        pass
`;
