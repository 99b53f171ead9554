/** `skein trace`: exports the spans of a run to an OpenTelemetry collector or a file. */
import path from "node:path";
import { traceRun } from "../../../app/trace-run.ts";
import { tracesOf } from "../../../compose/project.ts";
import { hasFailed } from "../../../core/result.ts";
import { hasExit, openHere, openNamed } from "../acts/project.ts";
import { stopOnSignal } from "../acts/signals.ts";
import { type Act, say, usage, writeJson } from "../context.ts";
import { EXIT } from "../exit-codes.ts";
import { writeNew } from "../files.ts";
import { sayRefused } from "../refusals.ts";
import { type AddTo, addRepo, examples, type RepoOption } from "./options.ts";

export const addTrace: AddTo = (command, perform) => {
  addRepo(command)
    .description(
      "Sends the spans of a run (OpenTelemetry, GenAI conventions) to the collector that the OTEL_EXPORTER_OTLP_* " +
        "variables name. With --out or --json: writes them as OTLP JSON, without any network. " +
        "Without a run: the open one, else the newest.",
    )
    .option("--out <file>", "write them into this file; one that is there is replaced")
    .addHelpText(
      "after",
      examples(
        "OTEL_EXPORTER_OTLP_ENDPOINT=http://localhost:4318 skein trace 1115-k7qd",
        "skein trace 1115-k7qd --out trace.json",
        "skein trace 1115-k7qd --json",
      ),
    )
    .action((run: string | undefined, options: TraceOptions) =>
      perform((context) => trace(context, { ...options, run })),
    );
};

type TraceOptions = RepoOption & { readonly out?: string };

const trace: Act<TraceOptions & { readonly run: string | undefined }> = async (context, options) => {
  const project = await openHere(context, options);
  if (hasExit(project)) return project.exit;
  const found = await openNamed(context, project, options.run);
  if (hasExit(found)) return found.exit;
  const { home } = found;
  const traces = tracesOf(context.env);
  if (options.out !== undefined || context.json) {
    const { document, spans } = await traces.document(home);
    if (options.out === undefined) {
      writeJson(context, document);
      return EXIT.done;
    }
    const file = path.resolve(context.folder, options.out);
    const written = await writeNew(file, `${JSON.stringify(document)}\n`, true);
    if ("why" in written) return usage(context, `${options.out} cannot be written: ${written.why}`);
    say(context, `${spans} spans of run ${home.record.run} are in ${options.out}`);
    return EXIT.done;
  }
  using stop = stopOnSignal();
  const sent = await traceRun(home, traces, stop.signal);
  if (hasFailed(sent)) return sayRefused(context, sent);
  const { to, spans, rejected } = sent;
  say(context, `${spans - rejected} spans of run ${home.record.run} are at ${to}`);
  if (rejected > 0) say(context, `The collector refused ${rejected} more.`);
  return rejected > 0 ? EXIT.notAllDone : EXIT.done;
};
