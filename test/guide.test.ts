/** Follows docs/getting-started.md word for word, with two terminals, in an empty home. */
import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { describe, it } from "node:test";
import { isTest, ROOT, sourceFiles } from "../tools/source-files.ts";
import { newFolder } from "./support/folders.ts";
import { plainEnvironment } from "./support/repositories.ts";

const LIMIT = { timeout: 180_000 };
const page = readFileSync(path.join(ROOT, "docs/getting-started.md"), "utf8");

/** The commands and files that a reader types or saves, in order. */
const [install = "", ...blocks] = [...page.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].map(
  ([, code = ""]) => code,
);

/** The output after which a block is typed while the block before it still runs. */
const whenIn = (block: string) => /^# in a second terminal, .* says: (.+)$/m.exec(block)?.[1];

describe("docs/getting-started.md", () => {
  it("installs as the README does", () => {
    const readme = readFileSync(path.join(ROOT, "README.md"), "utf8");
    for (const line of install.trim().split("\n")) {
      const [command = ""] = line.split("  #");
      assert.ok(readme.includes(command.trim()), `the README does not say ${command}`);
    }
  });

  it("can be followed word for word", LIMIT, async () => {
    using desk = await makeDesk();
    const said: Said[] = [];
    const ends: number[] = [];
    let open: Terminal | undefined;
    for (const [i, block] of blocks.entries()) {
      const program = /^#!\/bin\/sh\n# (\S+):/.exec(block)?.[1];
      if (program !== undefined) {
        await desk.save(program, block);
        continue;
      }
      const words = whenIn(block);
      if (words !== undefined) await open!.says(words);
      const terminal = desk.type(block, words === undefined ? said.at(-1) : { code: 0, out: open!.out() });
      if (whenIn(blocks[i + 1] ?? "") !== undefined) {
        open = terminal;
        continue;
      }
      said.push(await terminal.end);
      assert.equal(said.at(-1)?.code, 0, `${block}\n${said.at(-1)?.out}`);
      if (words === undefined) continue;
      said.push(await open!.end);
      ends.push(said.at(-1)!.code);
    }
    const all = said.map(({ out }) => out).join("\n");
    assert.deepEqual(ends, [130, 1], all); // The exit codes that the page names.
    expectInOrder(all, [
      /^ok +agent +.*agent\.sh works and plans$/m,
      /^ok +gate /m,
      /^A run could start now, with \d warnings?\.$/m,
      /New tasks: de, fr, es$/m,
      /Gate failed with .*: sh test\.sh$/m,
      /es, attempt 1: breaks the gate.*: sh test\.sh; retrying$/m,
      /es landed as /,
      /is done: 3 of 3 tasks done/,
      /^ {2}es +t\.3 +done, 2 attempts/m,
      /"proof":"green"/,
      /^delivered: main went from /m,
      /^hola$/m,
      /^run \S+, proposed, in process /m,
      /is paused: no new work starts/,
      /continues$/m,
      /a planner turn starts for it/,
      /has stopped\. To continue: skein resume/,
      /0 of 2 tasks done; unfinished work is kept/,
      /is stopped; this applies when you resume it/,
      /Plan approved/,
      /is done: 2 of 2 tasks done/,
      /was cancelled/,
    ]);
  });
});

describe("docs/when-something-failed.md", () => {
  it("quotes words that the program has", () => {
    const text = readFileSync(path.join(ROOT, "docs/when-something-failed.md"), "utf8");
    const program = sourceFiles(ROOT, ["src"])
      .filter((file) => !isTest(file.path))
      .map(({ text }) => text)
      .join("\n");
    // Words of the program are in bold, or in the first column of a table.
    const quotes = [...text.matchAll(/^(?:\*\*|\| )(.+?)(?:\*\*|\|)/gm)].flatMap(([, cell = ""]) =>
      [...cell.matchAll(/`([^`]+)`/g)].map(([, quote = ""]) => quote),
    );
    const missing = quotes
      .flatMap((quote) => quote.split(/…|<[^>]+>|[":;]|\d+ times/).map((part) => part.trim()))
      .filter((part) => part.length > 5 && !program.includes(part));
    assert.ok(quotes.length > 40, `only ${quotes.length} are found`);
    assert.deepEqual(missing, []);
  });
});

/** Expects each match after the one before it. */
function expectInOrder(text: string, expected: readonly RegExp[]): void {
  let rest = text;
  for (const words of expected) {
    const found = words.exec(rest);
    assert.ok(found, `${words} is not in what was said, or not after the line before it:\n${text}`);
    rest = rest.slice(found.index + found[0].length);
  }
}

type Said = { readonly code: number; readonly out: string };
type Terminal = {
  readonly out: () => string;
  readonly end: Promise<Said>;
  /** Resolves once the terminal shows these words. */
  readonly says: (words: string) => Promise<void>;
};
type Desk = Disposable & {
  readonly save: (name: string, code: string) => Promise<void>;
  /** `shown` is the output in which the reader finds the name of the run. */
  readonly type: (block: string, shown: Said | undefined) => Terminal;
};

/** A person with a home, a shell that keeps its working folder, and the checkout's `skein` on the PATH. */
async function makeDesk(): Promise<Desk> {
  const home = newFolder();
  const person = path.join(home, ".gitconfig");
  await writeFile(person, "[user]\n\tname = A\n\temail = a@example.invalid\n");
  const desk = path.join(home, "desk");
  await mkdir(desk);
  const env: NodeJS.ProcessEnv = {
    ...plainEnvironment(),
    HOME: home,
    GIT_CONFIG_GLOBAL: person,
    PATH: [path.join(ROOT, "bin"), path.dirname(process.execPath), process.env["PATH"]].join(":"),
  };
  const place = path.join(home, "place");
  await writeFile(place, desk);
  const shells = new Set<ChildProcess>();
  const here = () => readFileSync(place, "utf8").trimEnd();
  return {
    save: (name, code) => writeFile(path.join(here(), name), code),
    type: (block, shown) => {
      const run = /^run +(\S+)$/m.exec(shown?.out ?? "")?.[1];
      if (/^run=/m.test(block)) env["run"] = run ?? assert.fail(`no run is named in ${shown?.out}`);
      const commands = block.replace(/^run=.*$/m, "");
      const script = `set -e\n${commands}\npwd > "$HOME/place"\n`;
      const shell = spawn("/bin/sh", ["-c", script], {
        cwd: here(),
        env,
        stdio: ["ignore", "pipe", "pipe"],
        detached: true, // A process group of its own, so that a failed test leaves no process behind.
      });
      shells.add(shell);
      shell.on("close", () => shells.delete(shell));
      return terminalOf(shell);
    },
    [Symbol.dispose]: () => {
      for (const { pid } of shells) if (pid !== undefined) process.kill(-pid, "SIGKILL");
    },
  };
}

function terminalOf(child: ChildProcess): Terminal {
  let out = "";
  const { promise: end, resolve } = Promise.withResolvers<Said>();
  const waiting = new Set<() => void>();
  const read = (chunk: Buffer) => {
    out += chunk;
    for (const look of waiting) look();
  };
  child.stdout?.on("data", read);
  child.stderr?.on("data", read);
  child.on("close", (code) => resolve({ code: code ?? -1, out }));
  const says = (words: string) => {
    const seen = Promise.withResolvers<void>();
    const look = () => out.includes(words) && seen.resolve();
    waiting.add(look);
    look();
    void end.then(() => seen.reject(new Error(`it ended without saying "${words}":\n${out}`)));
    return seen.promise;
  };
  return { out: () => out, end, says };
}
