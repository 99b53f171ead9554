/** `npm run release -- --dry-run`: checks that a release has everything it needs. It never publishes; a person does. */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import path from "node:path";
import { CONFIGURATION, withKeys } from "./docs.ts";
import { SCHEMA_FOLDER, schemas } from "./schemas.ts";
import { ROOT } from "./source-files.ts";

type Check = { readonly name: string; readonly problems: readonly string[] };
type Manifest = Readonly<Record<string, unknown>> & { readonly name: string; readonly version: string };

const HOW = `Publishing is done by a person, who answers for it:
  npm run verify                   # on the commit that is released
  npm run release -- --dry-run     # until it names no problem
  git tag v<version> && git push --tags
  npm publish                      # builds, packs and asks for your one-time password`;

const read = (file: string) => readFileSync(path.join(ROOT, file), "utf8");
const git = (...args: readonly string[]) => execFileSync("git", args, { cwd: ROOT, encoding: "utf8" }).trim();

function main(args: readonly string[]): number {
  if (args.join() !== "--dry-run") {
    console.log(HOW);
    return 2;
  }
  const manifest = JSON.parse(read("package.json")) as Manifest;
  const checks: readonly Check[] = [
    { name: "the tree is clean", problems: git("status", "--porcelain").split("\n").filter(Boolean) },
    {
      name: "the changelog has this version",
      problems: changelogProblems(manifest.version, read("CHANGELOG.md")),
    },
    { name: "the manifest is complete", problems: manifestProblems(manifest) },
    { name: "a weakness can be reported", problems: contactProblems(read("SECURITY.md")) },
    {
      name: "the licence of every dependency is known",
      problems: licenceProblems(read("package-lock.json")),
    },
    { name: "the schemas are up to date", problems: schemaProblems() },
    { name: "the documents are up to date", problems: documentProblems() },
    { name: "the package holds what it should", problems: packProblems(packedFiles()) },
  ];
  for (const { name, problems } of checks) {
    console.log(`${problems.length === 0 ? "ok     " : "problem"}  ${name}`);
    for (const problem of problems) console.log(`           ${problem}`);
  }
  const count = checks.flatMap(({ problems }) => problems).length;
  console.log(`\nNot checked here: the tests. Run npm run verify on ${git("rev-parse", "--short", "HEAD")}.`);
  console.log(
    count === 0 ? `Ready as ${manifest.name} ${manifest.version}.` : `${count} problems: not ready.`,
  );
  return count === 0 ? 0 : 1;
}

export function changelogProblems(version: string, text: string): readonly string[] {
  const headings = [...text.matchAll(/^## (.*)$/gm)].map(([, heading = ""]) => heading);
  const [first = "", second = ""] = headings;
  const newest = first === "Unreleased" ? second : first;
  const isKnown = newest.split(" ")[0] === version;
  const unreleased = /^## Unreleased\n([\s\S]*?)(?=^## )/m.exec(text)?.[1]?.trim() ?? "";
  return [
    ...(isKnown ? [] : [`its newest version is "${newest}", the package is ${version}`]),
    ...(unreleased === "" ? [] : ['there are changes under "Unreleased": give them a version']),
  ];
}

/** Fields that only the owner of the repository can fill in are reported, never invented. */
export const manifestProblems = (manifest: Readonly<Record<string, unknown>>): readonly string[] =>
  ["name", "version", "description", "license", "keywords", "engines", "repository", "author"]
    .filter((field) => manifest[field] === undefined)
    .map((field) => `package.json has no "${field}"`);

const contactProblems = (text: string): readonly string[] =>
  /does not\s+name a private contact/.test(text) ? ["SECURITY.md names no private contact"] : [];

/** Licences that require no more than their text beside the code. */
const KNOWN_LICENCES = /^(?:MIT|ISC|Apache-2\.0|BSD-[23]-Clause|0BSD|BlueOak-1\.0\.0|CC0-1\.0)$/;

type Lock = {
  readonly packages: Readonly<
    Record<string, { readonly dev?: boolean; readonly link?: boolean; readonly license?: string }>
  >;
};

/** Only packages that users install. */
export const licenceProblems = (lock: string): readonly string[] =>
  Object.entries((JSON.parse(lock) as Lock).packages)
    .filter(([folder, { dev, link }]) => folder.startsWith("node_modules/") && dev !== true && link !== true)
    .filter(([folder]) => !ONLY_DEVELOPERS.test(folder))
    .filter(([, { license = "" }]) => !isKnown(license))
    .map(([folder, { license }]) => `${folder.slice("node_modules/".length)}: ${license ?? "no licence"}`);

/** "(A OR B)": one known licence is enough. */
const isKnown = (licence: string) =>
  licence
    .replaceAll(/[()]/g, "")
    .split(" OR ")
    .some((one) => KNOWN_LICENCES.test(one));

/** To npm, a workspace is not a development dependency; none of ours is published. */
const ONLY_DEVELOPERS = /^node_modules\/node-(?:bin-)?(?:linux|darwin|win)-/;

const schemaProblems = (): readonly string[] =>
  Object.entries(schemas())
    .filter(([name, text]) => readFileSync(path.join(SCHEMA_FOLDER, name), "utf8") !== text)
    .map(([name]) => `schema/${name}: run npm run schemas`);

function documentProblems(): readonly string[] {
  const text = readFileSync(CONFIGURATION, "utf8");
  return withKeys(text) === text ? [] : ["docs/configuration.md: run npm run docs"];
}

function packedFiles(): readonly string[] {
  const pack = execFileSync("npm", ["pack", "--dry-run", "--json"], {
    cwd: ROOT,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "ignore"],
  });
  const [{ files }] = JSON.parse(pack.slice(pack.search(/^\[/m))) as [{ files: { path: string }[] }];
  return files.map((file) => file.path);
}

const WANTED = [
  ...["bin/skein", "dist/main.js", "dist/index.js", "dist/types/index.d.ts", "docs/README.md", "LICENSE"],
  ...["CHANGELOG.md", "README.md", "SECURITY.md", "planning/words.json", "prompts/worker.md"],
  ...["schema/skein-yaml.v1.json", "docs/api/index.html"],
];

export const packProblems = (files: readonly string[]): readonly string[] => [
  ...WANTED.filter((file) => !files.includes(file)).map((file) => `${file} is missing`),
  ...files
    .filter((file) => /^(?:src|test|bench|tools|node_modules)\//.test(file))
    .map((file) => `${file} is in it`),
];

if (import.meta.main) process.exitCode = main(process.argv.slice(2));
