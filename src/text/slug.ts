/** Makes a slug for a branch name from any text, and checks whether a whole name is safe as a git branch. */

/**
 * ```ts
 * slugOf("Add the login: step 2"); // "add-the-login-step-2"
 * slugOf("--upload-pack=evil"); // "upload-pack-evil"
 * slugOf("修复"); // "task"
 * ```
 */
export function slugOf(text: string): string {
  const plain = text
    .slice(0, MAX_READ_CHARS)
    .normalize("NFKD")
    .toLowerCase()
    .replace(/[\u0300-\u036f']/g, "") // Combining accents, which NFKD separates from their letters, and apostrophes.
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-/, "");
  const slug = atWordEnd(plain).replace(/-$/, "");
  if (slug === "") return FALLBACK;
  return RESERVED.test(slug) ? `${FALLBACK}-${slug}` : slug;
}

/**
 * Makes slugs that differ from each other and from those in `taken`. One counter per slug keeps ten thousand equal
 * texts as fast as different ones.
 *
 * ```ts
 * const fresh = freshSlugs(new Set(["add-it"]));
 * fresh("Add it"); // "add-it-2"
 * ```
 */
export function freshSlugs(taken: { has(slug: string): boolean }): (text: string) => string {
  const made = new Set<string>();
  const next = new Map<string, number>();
  return (text) => {
    const base = slugOf(text);
    for (let n = next.get(base) ?? 1; ; n += 1) {
      const slug = n === 1 ? base : `${base}-${n}`;
      if (taken.has(slug) || made.has(slug)) continue;
      next.set(base, n + 1);
      made.add(slug);
      return slug;
    }
  };
}

const FALLBACK = "task";
const MAX_SLUG_CHARS = 40;
/** Characters beyond this cannot reach the slug, unless the text begins with hundreds of signs. */
const MAX_READ_CHARS = 400;
/** Names that Windows reserves for devices: a ref is a file there. */
const RESERVED = /^(?:con|prn|aux|nul|com\d|lpt\d)$/;

/** Cuts between words, unless that would lose more than half. */
function atWordEnd(slug: string): string {
  if (slug.length <= MAX_SLUG_CHARS) return slug;
  const end = slug.lastIndexOf("-", MAX_SLUG_CHARS);
  return slug.slice(0, end > MAX_SLUG_CHARS / 2 ? end : MAX_SLUG_CHARS);
}

/**
 * True if git accepts the name as a branch: the rules of `git check-ref-format`, and no name that a git command could
 * read as an option, a revision or a commit.
 */
export function isRefSafe(name: string): boolean {
  if (name.length === 0 || name.length > MAX_REF_CHARS || !name.isWellFormed()) return false;
  if (FORBIDDEN.test(name) || name.includes("..") || name.includes("@{")) return false;
  if (name.startsWith("-") || name.endsWith(".")) return false;
  if (name === "@" || name === "HEAD" || /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/i.test(name)) return false;
  return name.split("/").every(isPartSafe);
}

/** A file name holds 255 bytes, a character takes up to 3 of them here, and git appends ".lock". */
const MAX_PART_CHARS = 83;
const MAX_REF_CHARS = 240;
const FORBIDDEN = /[\p{Cc} ~^:?*[\\]/u;

const isPartSafe = (part: string) =>
  part !== "" && part.length <= MAX_PART_CHARS && !part.startsWith(".") && !/\.lock$/i.test(part);
