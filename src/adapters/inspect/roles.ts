/** Lists the roles and MCP servers that files of a repository describe, with what is wrong in those files. */
import type { NamesFound } from "../../ports/inspection.ts";
import { AGREES_TO_ALL } from "../../ports/trust.ts";
import { mcpServersIn } from "../agents/acp/open.ts";
import { readSpecialists } from "../specialists.ts";

export async function inspectSpecialists(top: string): Promise<NamesFound> {
  const { specialists, problems } = await readSpecialists(top);
  return namesOf(specialists, problems);
}

/** `variables`: those that the file may name. */
export async function inspectServers(
  top: string,
  variables: Readonly<Record<string, string>>,
): Promise<NamesFound> {
  const { servers, problems } = await mcpServersIn(top, variables, AGREES_TO_ALL); // Only named, not started.
  return namesOf(servers, problems);
}

const namesOf = (found: readonly { readonly name: string }[], problems: readonly string[]): NamesFound => ({
  names: found.map(({ name }) => name),
  problems,
});
