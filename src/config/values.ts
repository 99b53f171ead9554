/** Which kinds of values are there? Each is read from what people write, and written back so that it reads the same. */
import { z } from "zod";
import { quoted } from "../core/lines.ts";

/** What was written, if it is short: a longer text may be a key that went into the wrong place. */
export function shown(value: unknown): string {
  if (typeof value === "string")
    return value.length <= MAX_SHOWN_CHARS ? quoted(value) : `a text of ${value.length} characters`;
  if (Array.isArray(value)) return "a list";
  return typeof value === "object" && value !== null ? "a group of keys" : String(value);
}

const MAX_SHOWN_CHARS = 20;

const mustBe = (what: string) => ({
  error: (issue: { readonly input?: unknown }) => `must be ${what}, not ${shown(issue.input)}`,
});

export function whole(least: number) {
  const wanted = mustBe(`a whole number from ${least}`);
  return z.int(wanted).min(least, wanted);
}

export const money = () => {
  const wanted = mustBe("a number from 0");
  return z.number(wanted).min(0, wanted).max(1e9, mustBe("at most 1000000000"));
};

/** A part of something. */
export const share = () => {
  const wanted = mustBe("a number from 0 to less than 1");
  return z.number(wanted).min(0, wanted).lt(1, wanted);
};

export const choice = <const T extends readonly [string, ...string[]]>(...of: T) =>
  z.enum(of, mustBe(`one of ${of.join(", ")}`));

export const yesOrNo = () => z.boolean(mustBe("true or false"));

export const text = () =>
  z.string(mustBe("a text (in quotes if it looks like a number)")).max(MAX_CHARS, "is too long");

/** A page or two: a script belongs into a file. */
const MAX_CHARS = 10_000;

/** Also written as one text with commas between. */
export function list() {
  const entry = z.string(mustBe("a text")).trim().min(1, "must not be empty").max(MAX_CHARS, "is too long");
  return z.codec(
    z.union([z.array(entry), z.string()], "must be a list of texts, none of them empty"),
    z.array(entry),
    {
      decode: (written) =>
        typeof written === "string"
          ? written
              .split(",")
              .map((part) => part.trim())
              .filter(Boolean)
          : written,
      encode: (entries) => entries,
    },
  );
}

/** Some of a few words, in the order in which they count; also written as one text with commas between. */
export function kinds<const T extends readonly [string, ...string[]]>(...of: T) {
  const wanted = `must be some of ${of.join(", ")}, each once`;
  return z.codec(z.union([z.array(z.string()), z.string()], wanted), z.array(z.enum(of)), {
    decode: (written, context) => {
      const words = typeof written === "string" ? written.split(",").map((word) => word.trim()) : written;
      const known = of.filter((one) => words.includes(one));
      if (known.length === words.filter(Boolean).length)
        return words.flatMap((word) => of.filter((one) => one === word));
      context.issues.push({ code: "custom", message: wanted, input: undefined });
      return z.NEVER;
    },
    encode: (entries) => entries,
  });
}

/** In ms. `least` is 1 where waiting for nothing makes no sense. */
export function duration(least: 0 | 1) {
  const wanted = mustBe(
    `a duration like 90s, 15m or 2h, or a number of seconds${least > 0 ? ", more than 0" : ""}`,
  );
  const written = z.union([z.number(wanted), z.string(wanted).regex(DURATION, wanted)], wanted);
  return z.codec(written, z.int(), {
    decode: (value, context) => {
      const ms = msOf(value);
      if (ms >= least && ms <= MAX_MS) return ms;
      const message = ms > MAX_MS ? "must be at most 365d" : wanted.error({ input: value });
      context.issues.push({ code: "custom", message, input: value });
      return z.NEVER;
    },
    encode: durationText,
  });
}

const DURATION = /^(\d{1,12}(?:\.\d{1,6})?)(ms|s|m|h|d)?$/;
const MS = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;
const MAX_MS = 365 * MS.d;

function msOf(written: number | string): number {
  const [, count = "", unit = "s"] = DURATION.exec(String(written)) ?? [];
  return typeof written === "number"
    ? Math.round(written * MS.s)
    : Math.round(Number(count) * MS[unit as keyof typeof MS]);
}

/** In the largest unit that says it without a fraction. */
export function durationText(ms: number): string {
  const unit = (["d", "h", "m", "s"] as const).find((u) => ms > 0 && ms % MS[u] === 0) ?? "ms";
  return `${ms / MS[unit]}${unit}`;
}

/** In bytes; kB, MB and GB are thousands, KiB, MiB and GiB are 1024. */
export function size(least: 0 | 1) {
  const wanted = mustBe(`a size like 10MB or 1GiB, or a number of bytes${least > 0 ? ", more than 0" : ""}`);
  const written = z.union([z.number(wanted), z.string(wanted).regex(SIZE, wanted)], wanted);
  return z.codec(written, z.int(), {
    decode: (value, context) => {
      const bytes = bytesOf(value);
      if (bytes >= least && bytes <= MAX_BYTES) return bytes;
      const message = bytes > MAX_BYTES ? "must be at most 1000GB" : wanted.error({ input: value });
      context.issues.push({ code: "custom", message, input: value });
      return z.NEVER;
    },
    encode: (bytes) => bytes,
  });
}

const SIZE = /^(\d{1,15}(?:\.\d{1,6})?) ?(B|kB|KB|MB|GB|KiB|MiB|GiB)?$/;
const BYTES = { B: 1, kB: 1e3, KB: 1e3, MB: 1e6, GB: 1e9, KiB: 2 ** 10, MiB: 2 ** 20, GiB: 2 ** 30 } as const;
const MAX_BYTES = 1e12;

function bytesOf(written: number | string): number {
  const [, count = "", unit = "B"] = SIZE.exec(String(written)) ?? [];
  return typeof written === "number"
    ? Math.round(written)
    : Math.round(Number(count) * BYTES[unit as keyof typeof BYTES]);
}
