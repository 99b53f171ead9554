/** Which parts make a server on this machine? */
import path from "node:path";
import { deviceFile } from "../adapters/devices.ts";
import { withPulledFiles } from "../adapters/fleet/pulled-files.ts";
import { runFiles } from "../adapters/run-files.ts";
import type { Project } from "../ports/project.ts";

export const serverParts = ({ located, stateFolder, runs }: Project) => ({
  repository: path.basename(located.top),
  runs,
  files: withPulledFiles(runFiles(located.top)),
  devices: deviceFile(path.join(stateFolder, "devices.json")),
});
