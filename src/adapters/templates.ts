/** Reads a folder's template files: XML as text; modules by an import, which runs them, only if allowed. */
import { execFile } from "node:child_process";
import { readdir } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";
import { messageOf } from "../core/failure.ts";
import type { TemplateFile } from "../ports/subtasks.ts";
import { readBounded } from "./files/read-bounded.ts";

/**
 * Sorted by name; empty if there is no such folder. `allowCode`: modules are imported, which runs them with the
 * user's rights. `code`: a module that was not imported.
 */
export async function templateFiles(folder: string, allowCode: boolean): Promise<readonly TemplateFile[]> {
  const names = await readdir(folder).catch(() => []); // There is no such folder.
  const wanted = names.filter((name) => XML.test(name) || CODE.test(name)).sort();
  const files: TemplateFile[] = [];
  for (const file of wanted.slice(0, MAX_FILES))
    files.push({
      file,
      ...(await (XML.test(file) ? xmlIn : allowCode ? moduleIn : codeIn)(path.join(folder, file))),
    });
  if (wanted.length > MAX_FILES)
    files.push({
      file: wanted[MAX_FILES]!,
      is: "unreadable",
      why: `more than ${MAX_FILES} files are not read`,
    });
  return files;
}

const XML = /^[^.].*\.xml$/i;
const CODE = /^[^.].*(?<!\.d|\.test)\.[mc]?[jt]s$/;
const MAX_FILES = 1_000;
/** Larger than any template; its reader has a limit of its own. */
const MAX_BYTES = 1_100_000;
const MAX_IMPORT_MS = 10_000;

type Content = TemplateFile extends infer One ? (One extends unknown ? Omit<One, "file"> : never) : never;

async function xmlIn(file: string): Promise<Content> {
  const read = await readBounded(file, MAX_BYTES);
  switch (read.is) {
    case "bytes":
      return { is: "xml", text: read.bytes.toString() };
    case "too-large":
      return { is: "unreadable", why: `it has ${read.size} bytes, more than ${MAX_BYTES}` };
    case "unreadable":
      return { is: "unreadable", why: read.why };
    default:
      return { is: "unreadable", why: "it is not a plain file" };
  }
}

const codeIn = async (): Promise<Content> => ({ is: "code" });

/**
 * Imports a module in a process of its own, without keys and with a time limit. Only values that JSON can hold
 * come back.
 */
async function moduleIn(file: string): Promise<Content> {
  try {
    const { stdout } = await promisify(execFile)(
      process.execPath,
      ["--input-type=module", "-e", IMPORT, file],
      {
        env: { PATH: process.env["PATH"], HOME: process.env["HOME"] },
        timeout: MAX_IMPORT_MS,
        killSignal: "SIGKILL",
        maxBuffer: MAX_BYTES,
      },
    );
    return { is: "module", value: JSON.parse(stdout.slice(stdout.lastIndexOf("\n") + 1)) };
  } catch (error) {
    const { killed, stderr } = error as { readonly killed?: boolean; readonly stderr?: string };
    const words = /^\w*Error.*$/m.exec(stderr ?? "")?.[0] ?? messageOf(error).split("\n")[0];
    const why = killed ? `it took more than ${MAX_IMPORT_MS / 1_000} s, or said too much` : words;
    return { is: "unreadable", why: `it could not be imported: ${why}` };
  }
}

/** Prints the value on the last line, because a module may print, too; then exits, whatever it has started. */
const IMPORT = `
const { pathToFileURL } = await import("node:url");
const { default: value = null } = await import(pathToFileURL(process.argv[1]).href);
process.stdout.write("\\n" + JSON.stringify(value), () => process.exit());
`;
