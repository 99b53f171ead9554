/** `skein trust`: shows what the repository's files ask for, and stores a person's agreement. */
import path from "node:path";
import { planAsks } from "../../../app/trust/standing.ts";
import { isInsideJob } from "../../../compose/roles.ts";
import { hasFailed } from "../../../core/result.ts";
import { askId, type TrustAsk } from "../../../ports/trust.ts";
import { harmless, plural } from "../../../text/words.ts";
import { onPage } from "../columns.ts";
import type { TrustOptions } from "../config-file.ts";
import { type Act, type Context, refuse, say, usage, writeJson } from "../context.ts";
import { EXIT, type Exit, type ExitCode } from "../exit-codes.ts";
import {
  agreedBy,
  askPerson,
  INSIDE,
  keep,
  lineOf,
  mayAsk,
  standingHere,
  type Trusted,
  untrusted,
} from "../trust.ts";
import { type AddTo, examples } from "./options.ts";

type Options = TrustOptions & { readonly show?: true; readonly revoke?: true; readonly plan?: string };

export const addTrust: AddTo = (command, perform) => {
  command
    .description(
      "Shows what the repository's files ask for beyond the harmless, and asks whether you agree to it. Files: skein.yaml, " +
        ".mcp.json, .skein, .claude/agents, .worktreeinclude, .lfsconfig, prompts, and settings in .git/config that Skein's git " +
        "obeys. Harmless: numbers, names, globs, the gate that Skein finds itself, and what only tightens. Asked for: any " +
        "other command, agents, addresses, keys, variables, filters, a looser sandbox.\n\n" +
        "An agreement holds for this repository on this machine, until a file asks for something new: then only that is " +
        "asked. It is kept outside of the repository, and jobs of Skein cannot give it. Your own flags, variables and " +
        "files elsewhere need none.\n\n" +
        "Exit code 0: all is agreed to; 3: it is not. With --show: 0.",
    )
    .option("--repo <folder>", "the repository (default: the one of the current folder)")
    .option("--show", "show it without asking")
    .option("--trust <hash>", "agree without a terminal, to the set with this hash and no other")
    .option("--revoke", "take back everything that was agreed to for this repository")
    .option("--base <ref>", "of a bare repository: the branch or commit whose skein.yaml counts")
    .option("--config <file>", "another configuration in the repository")
    .addHelpText(
      "after",
      examples(
        "skein trust",
        "skein trust --show --json",
        "skein trust plan.json  # the commands of a plan file, too",
        "skein trust --trust 5f3c…  # the hash that --show prints",
        "skein run SPEC.md --trust 5f3c…  # in a CI: for this run alone, and nothing is kept",
        "skein trust --revoke",
      ),
    )
    .action((plan: string | undefined, options: Options) =>
      perform((context) => trust(context, plan === undefined ? options : { ...options, plan })),
    );
};

const trust: Act<Options> = async (context, options) => {
  const { show, revoke, trust: hash, repo = "." } = options;
  if ([show, revoke, hash].filter((one) => one !== undefined).length > 1)
    return usage(context, "--show, --trust and --revoke are for one each", "skein trust --help");
  if (!show && isInsideJob(context.env))
    return refuse(context, EXIT.configuration, { kind: "policy", ...INSIDE });
  const ofPlan = options.plan === undefined ? [] : await asksIn(context, options.plan);
  if ("exit" in ofPlan) return ofPlan.exit;
  const here = await standingHere(context, path.resolve(context.folder, repo), {
    ...options,
    planAsks: ofPlan,
  });
  if (hasFailed(here)) return refuse(context, EXIT.configuration, here.failure);
  if (revoke) return takeBack(context, here);
  const { unagreed } = here.standing;
  if (show) return shown(context, here);
  if (hash !== undefined) return agreeTo(context, here, hash);
  if (unagreed.length === 0) return shown(context, here);
  if (!mayAsk(context)) return refuse(context, EXIT.configuration, untrusted(context, here));
  if (!(await askPerson(context, here))) return refuse(context, EXIT.configuration, declined(here));
  return (await keep(context, here, "terminal")) ?? sayKept(context, here);
};

/** The success criteria in a plan file. */
async function asksIn(context: Context, file: string): Promise<readonly TrustAsk[] | Exit> {
  const { planIn } = await import("../planning/file.ts");
  const read = await planIn(context, file, async () => ({}));
  if (read && "exit" in read) return read;
  if (read) return planAsks(read.plan, file);
  return { exit: usage(context, `${harmless(file, 80)} is not a plan file`, "skein trust --help") };
}

const declined = ({ project }: Trusted) => ({
  kind: "declined",
  message: `nothing was agreed to for ${project.located.top}`,
  next: "change what its files ask for, or give what you want by flags: your own need no agreement",
});

async function agreeTo(context: Context, here: Trusted, hash: string): Promise<ExitCode> {
  const agreed = agreedBy(context, here.standing, hash);
  if ("message" in agreed) return refuse(context, EXIT.configuration, agreed);
  const failed = await keep(context, here, "hash");
  if (failed !== undefined) return failed;
  if (context.json) return sayJson(context, { ...here, standing: { ...here.standing, unagreed: [] } });
  return sayKept(context, here);
}

function sayKept(context: Context, { standing: { unagreed } }: Trusted): ExitCode {
  say(context, `agreed to ${plural(unagreed.length, "thing")}; skein trust --revoke takes it back`);
  return EXIT.done;
}

async function takeBack(context: Context, { store, project }: Trusted): Promise<ExitCode> {
  const count = await store.revoke();
  if (typeof count !== "number") return refuse(context, EXIT.configuration, count.failure);
  const { top } = project.located;
  if (context.json) writeJson(context, { repository: top, revoked: count });
  say(
    context,
    `took back ${plural(count, "agreement")} for ${harmless(top)}; runs that were begun keep theirs`,
  );
  return EXIT.done;
}

function shown(context: Context, here: Trusted): ExitCode {
  const { asks, unagreed, hash } = here.standing;
  if (context.json) return sayJson(context, here);
  if (asks.length === 0) say(context, "The repository's files ask for nothing that needs your agreement.");
  const ids = new Set(unagreed.map(askId));
  for (const ask of [...unagreed, ...asks.filter((one) => !ids.has(askId(one)))]) {
    const state = ids.has(askId(ask)) ? "new    " : "agreed ";
    say(
      context,
      onPage(context.out, state + harmless(lineOf(ask), MAX_LINE_CHARS), " ".repeat(state.length)),
    );
  }
  if (asks.length > 0) say(context, `hash   ${hash}`);
  return EXIT.done;
}

const MAX_LINE_CHARS = 2_000;

function sayJson(context: Context, { project, standing }: Trusted): ExitCode {
  const { asks, unagreed, hash } = standing;
  const ids = new Set(unagreed.map(askId));
  const entryOf = (ask: TrustAsk) => {
    const { is, from, name, words } = ask;
    return { is, from, name, words, isAgreed: !ids.has(askId(ask)) };
  };
  writeJson(context, {
    ...{ repository: project.located.top, hash, isTrusted: unagreed.length === 0 },
    asks: asks.map(entryOf),
  });
  return EXIT.done;
}
