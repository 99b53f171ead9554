/** Tests which parts of a home folder a confined command sees. */
import assert from "node:assert/strict";
import { mkdirSync, realpathSync, symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import { it } from "node:test";
import { newFolder } from "../../../test/support/folders.ts";
import { toolChains } from "./tool-chains.ts";

/** Makes a home with these folders; names with a dot inside are files. */
function homeWith(...paths: readonly string[]): string {
  const home = realpathSync(newFolder());
  for (const one of paths) {
    const at = path.join(home, one);
    mkdirSync(/\w\.\w/.test(path.basename(at)) ? path.dirname(at) : at, { recursive: true });
    if (/\w\.\w/.test(path.basename(at))) writeFileSync(at, "");
  }
  return home;
}

function shown(home: string, onPath: readonly string[], more: Readonly<Record<string, string>> = {}) {
  const environment = { HOME: home, PATH: onPath.map((one) => path.join(home, one)).join(":"), ...more };
  return toolChains(environment, [home]).map(({ path: at }) => path.relative(home, at));
}

it("shows what the PATH names, and what its programs load", () => {
  const home = homeWith(
    ".nvm/versions/node/v24/bin",
    ".nvm/versions/node/v24/lib",
    ".nvm/alias",
    "bin",
    "lib",
  );
  const seen = shown(home, [".nvm/versions/node/v24/bin", "bin", "not-there/bin"]);
  assert.deepEqual(seen, [".nvm/versions/node/v24/bin", ".nvm/versions/node/v24/lib", "bin"]);
});

it("shows a tool chain's downloads and not its credentials", () => {
  const home = homeWith(".cargo/bin", ".cargo/registry", ".cargo/credentials.toml", ".rustup/toolchains");
  assert.deepEqual(shown(home, [".cargo/bin"]), [".cargo/bin", ".cargo/registry", ".rustup"]);
  const named = shown(home, [], { CARGO_HOME: path.join(home, ".cargo") });
  assert.deepEqual(named, [".cargo/bin", ".cargo/registry"]);
});

it("shows what shims start", () => {
  const home = homeWith(".pyenv/shims", ".pyenv/versions/3.12/bin");
  assert.deepEqual(shown(home, [".pyenv/shims"]), [".pyenv"]);
});

it("shows no home as a whole, no folder around one, and nothing where keys are kept", () => {
  const home = homeWith(".config/tool/bin", ".ssh/bin", ".aws", ".local/bin", ".local/share/keyrings");
  assert.deepEqual(shown(home, ["", "..", ".", ".config/tool/bin", ".ssh/bin"]), []);
  const variables = { JAVA_HOME: home, PYENV_ROOT: path.dirname(home), GOROOT: path.join(home, ".aws") };
  assert.deepEqual(shown(home, [], variables), []);
  assert.deepEqual(shown(home, [".local/bin"]), [".local/bin"]);
});

it("shows nothing that is not hidden anyway", () => {
  assert.deepEqual(toolChains({ PATH: "/usr/bin:/bin:relative", HOME: "/nowhere" }, ["/nowhere"]), []);
});

it("follows links to where the programs are, and says which", () => {
  const home = homeWith("versions/24/bin", ".ssh/bin");
  symlinkSync("versions/24", path.join(home, "node"));
  symlinkSync(`${home}/./node/`, path.join(home, "current"));
  symlinkSync(".ssh/bin", path.join(home, "innocent"));
  symlinkSync("ring", path.join(home, "ring"));
  const PATH = `${home}/current/bin:${home}/innocent:${home}/ring`;
  assert.deepEqual(toolChains({ HOME: home, PATH }, [home]), [
    {
      path: `${home}/versions/24/bin`,
      links: [
        { at: `${home}/current`, to: `${home}/./node/` },
        { at: `${home}/node`, to: "versions/24" },
      ],
    },
  ]);
});
