/** Defines the kinds of values of keys: each is read from what people write, and written so that it reads the same. */
import * as z from "zod";
import { quoted } from "../text/lines.ts";

/** Shows a short value. A longer text may be a key in the wrong place. */
function shown(value: unknown): string {
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

/** A whole number, or "auto". */
export function wholeOrAuto(least: number) {
  return z.union([z.enum(["auto"]), whole(least)], mustBe(`"auto" or a whole number from ${least}`));
}

export const money = () => {
  const wanted = mustBe("a number from 0");
  return z.number(wanted).min(0, wanted).max(1e9, mustBe("at most 1000000000"));
};

export const share = () => {
  const wanted = mustBe("a number from 0 to less than 1");
  return z.number(wanted).min(0, wanted).lt(1, wanted);
};

export const choice = <const T extends readonly [string, ...string[]]>(...of: T) =>
  z.enum(of, mustBe(`one of ${of.join(", ")}`));

export const yesOrNo = () => z.boolean(mustBe("true or false"));

export const text = () =>
  z.string(mustBe("a text (in quotes if it looks like a number)")).max(MAX_CHARS, "is too long");

/** A page or two: a longer script belongs in a file. */
const MAX_CHARS = 10_000;

/** A list, or one text with commas. */
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

/** Some of the given words, in their order of preference; a list, or one text with commas. */
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

type Units = {
  readonly written: RegExp;
  readonly factors: Readonly<Record<string, number>>;
  /** The unit of a bare number, and of a text without a unit. */
  readonly plain: string;
  readonly max: number;
  readonly atMost: string;
};

/** A number of units, or a text such as 90s or 10MB. `least` is 1 where 0 makes no sense. */
function amountOf(what: string, least: 0 | 1, units: Units, encode: (amount: number) => number | string) {
  const wanted = mustBe(`${what}${least > 0 ? ", more than 0" : ""}`);
  const written = z.union([z.number(wanted), z.string(wanted).regex(units.written, wanted)], wanted);
  return z.codec(written, z.int(), {
    decode: (value, context) => {
      const [, count = value, unit = units.plain] = units.written.exec(String(value)) ?? [];
      const factor = units.factors[typeof value === "number" ? units.plain : unit]!;
      const amount = Math.round(Number(typeof value === "number" ? value : count) * factor);
      if (amount >= least && amount <= units.max) return amount;
      const message = amount > units.max ? `must be at most ${units.atMost}` : wanted.error({ input: value });
      context.issues.push({ code: "custom", message, input: value });
      return z.NEVER;
    },
    encode,
  });
}

const MS = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;
const DURATION: Units = {
  written: /^(\d{1,12}(?:\.\d{1,6})?)(ms|s|m|h|d)?$/,
  factors: MS,
  plain: "s",
  max: 365 * MS.d,
  atMost: "365d",
};

/** In ms. */
export const duration = (least: 0 | 1) =>
  amountOf("a duration like 90s, 15m or 2h, or a number of seconds", least, DURATION, durationText);

/** In the largest unit that needs no fraction. */
export function durationText(ms: number): string {
  const unit = (["d", "h", "m", "s"] as const).find((u) => ms > 0 && ms % MS[u] === 0) ?? "ms";
  return `${ms / MS[unit]}${unit}`;
}

const SIZE: Units = {
  written: /^(\d{1,15}(?:\.\d{1,6})?) ?(B|kB|KB|MB|GB|KiB|MiB|GiB)?$/,
  factors: { B: 1, kB: 1e3, KB: 1e3, MB: 1e6, GB: 1e9, KiB: 2 ** 10, MiB: 2 ** 20, GiB: 2 ** 30 },
  plain: "B",
  max: 1e12,
  atMost: "1000GB",
};

export const size = (least: 0 | 1) =>
  amountOf("a size like 10MB or 1GiB, or a number of bytes", least, SIZE, (bytes) => bytes);
