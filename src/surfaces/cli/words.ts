/** The words of every surface are in `text`. */
export * from "../../text/words.ts";
