/** Finds the tool chains in hidden home folders that programs need, by the PATH and a few variables; no credentials. */
import { basename, delimiter, dirname, isAbsolute, join, sep } from "node:path";
import { type Way, wayTo } from "./way.ts";

export type Variables = Readonly<Record<string, string | undefined>>;

/** Paths below the hidden folders that may be readable. */
export function toolChains(environment: Variables, hidden: readonly string[]): Way[] {
  const onPath = (environment["PATH"] ?? "").split(delimiter).filter(isAbsolute);
  const homes = new Set([...hidden, environment["HOME"]]);
  const wanted = [...onPath.flatMap((folder) => aroundBin(folder, homes)), ...named(environment)];
  return [...new Set(wanted)].flatMap((name) => {
    const way = wayTo(name);
    return way !== undefined && isFit(way.path, hidden) ? [way] : [];
  });
}

/** Whether a path is below a hidden folder, but neither one itself nor above one, and not a folder of keys. */
function isFit(path: string, hidden: readonly string[]): boolean {
  const isBelow = hidden.some((folder) => path.startsWith(`${folder}${sep}`));
  const isAbove = hidden.some((folder) => `${folder}${sep}`.startsWith(`${path}${sep}`));
  return isBelow && !isAbove && !path.split(sep).some((part) => KEYS.test(part));
}

const KEYS =
  /^(?:\.(?:ssh|aws|azure|gnupg|pki|config|netrc|npmrc|pypirc|docker|kube|claude|codex|gemini|password-store|mozilla|git-credentials)|keyrings|credentials.*|auth\.json)$/i;

function aroundBin(folder: string, homes: ReadonlySet<string | undefined>): string[] {
  const above = dirname(folder);
  if (basename(folder) === "shims") return [above]; // pyenv, rbenv, asdf, mise: they start programs beside them.
  if (basename(folder) === ".bin" && basename(above) === "node_modules") return [above];
  if (basename(folder) !== "bin" || homes.has(above)) return [folder];
  const beside = BESIDE_BIN.map((name) => join(above, name));
  const rust = basename(above) === ".cargo" ? [join(dirname(above), ".rustup")] : [];
  return [folder, ...beside, ...rust];
}

/** Folders that programs in a "bin" load from. Not "share": in ~/.local it holds sessions and keys of other tools. */
const BESIDE_BIN: readonly string[] = [
  ...["lib", "lib64", "libexec", "include", "jre", "pyvenv.cfg"],
  ...["registry", "git", "pkg"], // Downloads of cargo and go.
  ...["versions", "tools", "install", "Cellar", "opt", "Homebrew"], // volta, bun, deno, brew.
  ...["share/pipx", "share/uv", "share/mise/installs"],
];

function named(environment: Variables): string[] {
  const paths = (names: readonly string[]) =>
    names.flatMap((name) => {
      const path = environment[name];
      return path !== undefined && isAbsolute(path) ? [path] : [];
    });
  const parts = (name: string, below: readonly string[]) =>
    paths([name]).flatMap((path) => below.map((part) => join(path, part)));
  return [
    ...paths(WHOLE),
    ...parts("CARGO_HOME", ["bin", "registry", "git"]),
    ...parts("GOPATH", ["bin", "pkg"]),
    ...parts("NVM_DIR", ["versions"]),
  ];
}

const WHOLE: readonly string[] = [
  ...["RUSTUP_HOME", "PYENV_ROOT", "RBENV_ROOT", "ASDF_DIR", "VOLTA_HOME", "BUN_INSTALL", "PNPM_HOME"],
  ...["JAVA_HOME", "GOROOT", "ANDROID_HOME", "DOTNET_ROOT"],
  ...["SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS"],
];
