/** Which numbers decide about a plan? Published data: a team can put its own in their place. */

export type PlanLimits = Readonly<Record<LimitName, number>>;

/** Each with the smallest value that makes sense. */
const SMALLEST = {
  maxFilesModified: 1,
  maxFilesRead: 1,
  maxLinesRead: 1,
  bytesALine: 1,
  tier2From: 0,
  tier3Above: 0,
  maxConcurrent: 1,
  minTasksAWave: 1,
  maxWaves: 1,
  maxBreadthTasks: 1,
  maxTasks: 1,
  maxTasksUnsaid: 1,
  maxSubjectChars: 20,
  maxContextFiles: 0,
} as const;

export type LimitName = keyof typeof SMALLEST;

/** More than any of them can mean. */
const LARGEST = 1_000_000_000;

/** What is wrong is said with its place; "version" and "why" are for people. */
export function readLimits(value: unknown): PlanLimits | { readonly problems: readonly string[] } {
  if (!isObject(value))
    return { problems: ["the file must hold an object with a value and a reason for each limit"] };
  const problems: string[] = [];
  if (value.version !== 1) problems.push("version: must be 1, the only one that is known");
  const limits: Partial<Record<LimitName, number>> = {};
  for (const [name, smallest] of Object.entries(SMALLEST) as [LimitName, number][]) {
    const entry = value[name];
    const number = isObject(entry) ? entry.value : undefined;
    if (entry === undefined) problems.push(`${name}: is missing`);
    else if (isWithin(number, smallest)) limits[name] = number;
    else problems.push(`${name}.value: must be a whole number from ${smallest} to ${LARGEST}`);
  }
  const unknown = Object.keys(value).filter((name) => name !== "version" && !Object.hasOwn(SMALLEST, name));
  for (const name of unknown.slice(0, MAX_UNKNOWN))
    problems.push(`${name.slice(0, 40)}: is no limit of this version`);
  return problems.length === 0 ? (limits as PlanLimits) : { problems };
}

const MAX_UNKNOWN = 5;

type Read = { readonly version?: unknown; readonly value?: unknown } & Readonly<Record<string, unknown>>;

const isObject = (value: unknown): value is Read =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const isWithin = (value: unknown, smallest: number): value is number =>
  typeof value === "number" && Number.isInteger(value) && value >= smallest && value <= LARGEST;
