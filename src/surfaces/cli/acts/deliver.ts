/** `skein deliver`: may what landed go to the user's branch, and what came of it? */
import type { Project } from "../../../compose.ts";
import type { Config } from "../../../config/index.ts";
import type { RunHome } from "../../../ports/runs.ts";
import { type Act, type Context, refuse } from "../context.ts";
import { EXIT, type ExitCode } from "../exit-codes.ts";
import type { DeliverOptions } from "../verbs/deliver.ts";

export const deliver: Act<DeliverOptions> = async (context) =>
  refuse(context, EXIT.configuration, { kind: "repository", message: "not yet" });

export const deliverDone = async (
  context: Context,
  _project: Project,
  _home: RunHome,
  _config: Config,
): Promise<ExitCode> => refuse(context, EXIT.configuration, { kind: "repository", message: "not yet" });
