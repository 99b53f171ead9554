/** What is one of many things that the same work is done on? */

/** How it is called, what of the repository it is, and how much there is to read. */
export type Item = { readonly name: string; readonly paths: readonly string[]; readonly bytes: number };
