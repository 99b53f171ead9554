/** Names a browser and its system as its owner would, from its user agent: "Firefox on Android". */

/** Most browsers also claim to be others, so the first match counts. */
const BROWSERS = [
  ["Edge", /\bEdg(?:e|A|iOS)?\//],
  ["Opera", /\bOPR\//],
  ["Samsung Internet", /\bSamsungBrowser\//],
  ["Firefox", /\b(?:Firefox|FxiOS)\//],
  ["Chrome", /\b(?:Chrome|CriOS|HeadlessChrome)\//],
  ["Safari", /\bSafari\//],
  ["curl", /^curl\//],
] as const;
const SYSTEMS = [
  ["iPhone", /\biPhone\b/],
  ["iPad", /\biPad\b/],
  ["Android", /\bAndroid\b/],
  ["ChromeOS", /\bCrOS\b/],
  ["Windows", /\bWindows\b/],
  ["macOS", /\bMac OS X\b|\bMacintosh\b/],
  ["Linux", /\bLinux\b|\bX11\b/],
] as const;

export function browserName(said: string): string {
  const named = (names: typeof BROWSERS | typeof SYSTEMS) => names.find(([, marks]) => marks.test(said))?.[0];
  const [browser, system] = [named(BROWSERS), named(SYSTEMS)];
  if (browser === undefined && system === undefined) return said;
  return [browser ?? "a browser", system].filter(Boolean).join(" on ");
}
