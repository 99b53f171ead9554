/** Which Node would a script begin with? Its version, such as "22.19.0"; undefined if there is none or it says nothing. */
import { execFile } from "node:child_process";
import { promisify } from "node:util";

export async function nodeOnPath(
  environment: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<string | undefined> {
  // By `env`, as the first line of a script does it: `execFile` itself looks through the PATH of this process.
  const asked = promisify(execFile)("/usr/bin/env", ["node", "--version"], { env: environment, signal });
  return asked.then(
    ({ stdout }) => /^v(\d+\.\d+\.\d+)/.exec(stdout)?.[1],
    () => undefined, // Then the agent says it, in its own words.
  );
}
