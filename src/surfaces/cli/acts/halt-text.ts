/** Tells why a run stopped by itself: what a person must fix, or until when an account is rate limited. */
import type { Halt } from "../../../app/halt.ts";
import type { Config } from "../../../config/index.ts";
import { knownProvider } from "../../../config/known-providers.ts";
import { durationText } from "../../../config/values.ts";
import type { Failure } from "../../../core/failure.ts";
import { accountOf } from "../../../core/model-spec.ts";
import type { RunView } from "../../../core/view/view.ts";
import { clockTime, day, duration, harmless, plural } from "../../../text/words.ts";
import { type Context, refuse } from "../context.ts";
import { EXIT, type ExitCode } from "../exit-codes.ts";

export function sayHalt(context: Context, halt: Halt, view: RunView, config: Config): ExitCode {
  const { run, counts } = view;
  const kept = `${counts.done} of ${plural(counts.total, "task")} done, the rest is kept`;
  if (halt.is === "setup") return saySetup(context, halt.failure, { run, kept });
  if (halt.is === "refused") {
    const { account, failure } = halt;
    const message = `the credentials of ${account} were refused: ${failure.message} (${kept})`;
    return refuse(context, EXIT.authentication, {
      kind: "authentication",
      message,
      next: `${keyText(account, config)}, then skein resume ${run}`,
    });
  }
  const left = halt.until - context.now();
  const when = `${day(halt.until)} ${clockTime(halt.until)}`;
  return refuse(context, EXIT.parked, {
    kind: "quota",
    message:
      `${halt.accounts.join(", ")} is rate limited until ${when} (in ${duration(left)}), and quota.wait is ` +
      `${durationText(config.quota.wait)}, so the run stopped (${kept})`,
    next: `skein resume ${run} after ${when}; or skein resume ${run} --set quota.wait=${waitFor(left)} to wait here`,
  });
}

/** Keeps the line breaks in a tool's output and in lines for skein.yaml. */
function saySetup(
  context: Context,
  { kind, message, next = "fix it", agent }: Failure,
  { run, kept }: { readonly run: string; readonly kept: string },
): ExitCode {
  const then = `then skein resume ${run}`;
  const exit = agent === undefined ? EXIT.configuration : EXIT.agentUnavailable;
  if (context.json) return refuse(context, exit, { kind, message, next: `${next}; ${then}` });
  const [what = "", ...said] = message.split("\n");
  return refuseInLines(context, exit, {
    kind,
    message: [`${what} (${kept})`, ...said].join("\n"),
    next: next.includes("\n") ? `${next}\n${then}` : `${next}, ${then}`,
  });
}

/** Refuses with a message of several lines, such as a tool's output or lines of skein.yaml. */
export function refuseInLines(
  context: Context,
  exitCode: ExitCode,
  { kind, message, next }: { readonly kind: string; readonly message: string; readonly next?: string },
): ExitCode {
  const [what = "", ...lines] = message.split("\n");
  const [first, ...more] = next?.split("\n") ?? [];
  refuse(context, exitCode, { kind, message: what, lines, ...(first !== undefined && { next: first }) });
  for (const line of more) context.err.write(`  ${harmless(line)}\n`);
  return exitCode;
}

/** Rounded up to whole hours, so that the wait is long enough. */
const waitFor = (ms: number) => `${Math.ceil(ms / 3_600_000)}h`;

/** How to set the variable that holds the key, if Skein passes the key to the agent. */
function keyText(account: string, { agent, planner, fallback }: Config): string {
  const specs = [agent, planner].filter((spec) => typeof spec === "object");
  const models = specs.flatMap((spec) => (spec.kind === "model" ? [spec.model, ...spec.fallbacks] : []));
  const model = [...models, ...fallback].find((one) => accountOf(one) === account);
  const variable = model && (model.keyVariable ?? knownProvider(model.provider)?.keys[0]);
  if (variable !== undefined) return `set ${variable} to a key that works`;
  return specs.some((spec) => spec.kind === "acp" && spec.name === account)
    ? `log in with ${account} itself, or set its key`
    : `fix the credentials of ${account}`;
}
