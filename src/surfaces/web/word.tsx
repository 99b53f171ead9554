/** Explains Skein's own terms: in place, and all of them at the end of the page. */
import type { ComponentChildren } from "preact";
import { type Explained, WORDS } from "../../core/view/words.ts";

/** `children`: the term as it is written in its sentence. */
export const Word = ({ is, children }: { readonly is: Explained; readonly children?: ComponentChildren }) => (
  <abbr title={WORDS[is]}>{children ?? is}</abbr>
);

export const AllWords = () => (
  <details class="words">
    <summary>What the words mean</summary>
    <dl>
      {Object.entries(WORDS).map(([word, text]) => (
        <>
          <dt>{word}</dt>
          <dd>{text}</dd>
        </>
      ))}
    </dl>
  </details>
);
