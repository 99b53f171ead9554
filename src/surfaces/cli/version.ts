/** Which version of Skein is this? */
import manifest from "../../../package.json" with { type: "json" };

export const versionText = (json: boolean): string =>
  json ? JSON.stringify({ version: manifest.version }) : manifest.version;
