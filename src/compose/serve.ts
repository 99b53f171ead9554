/** Builds the parts of a server on this machine. */
import path from "node:path";
import { deviceFile } from "../adapters/devices.ts";
import type { Project } from "../ports/project.ts";
import { filesOf } from "./project.ts";

export { listen, type Tls } from "../adapters/http/listen.ts";

export const serverParts = ({ located, stateFolder, runs }: Project) => ({
  repository: path.basename(located.top),
  ...{ runs, files: filesOf({ located }) },
  devices: deviceFile(path.join(stateFolder, "page-devices.json")),
});
