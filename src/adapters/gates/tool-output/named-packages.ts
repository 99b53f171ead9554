/** Tells whether a manifest of the tree names a package: if so, a missing package was not installed. */
import { fields, parseJson } from "../../../text/json.ts";

/** A file such as package.json or requirements.txt, with its text. */
export type Manifest = { readonly path: string; readonly text: string };

export const isManifest = (path: string): boolean =>
  /(?:^|\/)(?:package\.json|go\.mod|pyproject\.toml|setup\.(?:cfg|py)|Pipfile|tox\.ini)$|(?:^|\/)requirements[^/]*(?:\.txt|\/[^/]+\.txt)$/.test(
    path,
  );

/** "lodash/merge" and "@scope/name/part" belong to the packages lodash and @scope/name. */
export function namesForJavaScript(spec: string, manifests: readonly Manifest[]): boolean {
  const name = spec
    .split("/")
    .slice(0, spec.startsWith("@") ? 2 : 1)
    .join("/");
  return manifests.some(({ path, text }) => path.endsWith("package.json") && dependencies(text).has(name));
}

const DEPENDENCIES = ["dependencies", "devDependencies", "peerDependencies", "optionalDependencies"];

function dependencies(text: string): ReadonlySet<string> {
  const manifest = fields(parseJson(text));
  return new Set(DEPENDENCIES.flatMap((key) => Object.keys(fields(manifest[key]))));
}

/** Looks for the module by its own name, or by a usual variation: yaml is in PyYAML. */
export function namesForPython(module: string, manifests: readonly Manifest[]): boolean {
  const name = plain(module);
  const wanted = new Set([name, `py${name}`, `python-${name}`, `${name}s`, ...(ALIASES[name] ?? [])]);
  return manifests.some(
    ({ path, text }) => PYTHON.test(path) && wordsIn(text).some((word) => wanted.has(word)),
  );
}

const PYTHON = /(?:\.txt|\.toml|\.cfg|\.py|\.ini|Pipfile)$/;

const ALIASES: Readonly<Record<string, readonly string[]>> = {
  bs4: ["beautifulsoup4"],
  cv2: ["opencv-python", "opencv-python-headless"],
  crypto: ["pycryptodome"],
  jwt: ["pyjwt"],
  pil: ["pillow"],
  sklearn: ["scikit-learn"],
};

/** The words of a manifest without the project's own names, which may be modules that are still to be written. */
const wordsIn = (text: string): readonly string[] =>
  text
    .split("\n")
    .filter((line) => !OWN.test(line))
    .flatMap((line) => line.match(/[A-Za-z0-9][\w.-]*/g) ?? [])
    .map(plain);

const OWN =
  /^\s*(?:#|\[|name\b|description\b|packages\b|py_modules\b|keywords\b|module\b|source\b|testpaths\b|pythonpath\b|include\b|where\b|from\b|import\b)/;

const plain = (name: string) => name.toLowerCase().replace(/[-_.]+/g, "-");

/** Whether an import path is inside the tree's own module. */
export const isOfGoModule = (path: string, manifests: readonly Manifest[]): boolean =>
  manifests.some(({ path: file, text }) => {
    const own = file.endsWith("go.mod") ? /^module\s+"?([^\s"]+)/m.exec(text)?.[1] : undefined;
    return own !== undefined && (path === own || path.startsWith(`${own}/`));
  });
