/** The version of Skein, as text or JSON. */
import manifest from "../../../package.json" with { type: "json" };

export const versionText = (json: boolean): string =>
  json ? JSON.stringify({ version: manifest.version }) : manifest.version;
