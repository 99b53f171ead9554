/** Opens the fleet's Postgres, which SKEIN_FLEET_URL leads to: the address is in no file and no message. */
import { type Failed, failedWith } from "../../core/result.ts";
import type { Environment } from "../../ports/project.ts";
import { Database } from "./database.ts";

/** Connects when it is first asked. */
export function openDatabase(
  env: Environment,
  { schema, machine }: { readonly schema: string; readonly machine?: string },
): Database | Failed {
  const { SKEIN_FLEET_URL: url } = env as Readonly<Record<string, string | undefined>>;
  if (!url)
    return failedWith(
      "repository",
      "there is no address of the fleet's Postgres",
      `set SKEIN_FLEET_URL ${LIKE}`,
    );
  if (!/^postgres(?:ql)?:\/\/\S+$/.test(url) || !URL.canParse(url))
    return failedWith("repository", "SKEIN_FLEET_URL is no address of a Postgres", `set it ${LIKE}`);
  return new Database({ url, schema, ...(machine !== undefined && { machine }) });
}

const LIKE = "to an address that begins with postgres://, as docs/fleet.md shows";
