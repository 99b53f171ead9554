/** Shows the output of a gate run: first its failures, or its end if it passed; the whole output on request. */
import { useState } from "preact/hooks";
import { useAnswer } from "./answer.ts";
import { api } from "./api.ts";
import { harmless, plural } from "./format.ts";
import { useMore } from "./more.tsx";

/** The most lines drawn at once, because a browser stops while it lays out a long text. */
const LINES = 1_000;

type Props = {
  readonly run: string;
  readonly output: string;
  readonly hasPassed: boolean;
  readonly isRunning: boolean;
};

export function GateOutput({ run, output, hasPassed, isRunning }: Props) {
  const [isWhole, setWhole] = useState(false);
  const { value: text, error } = useAnswer(
    () => api.gateOutput(run, output, { isWhole, hasPassed }),
    [run, output, isWhole, hasPassed],
  );
  if (error !== undefined) return <p class="bad">{harmless(error)}</p>;
  if (!text) return <p class="quiet">Reading…</p>;
  if (text.is === "missing")
    return <p class="quiet">{isRunning ? "It runs, and has written nothing yet." : harmless(text.why)}</p>;
  const excerptName = hasPassed ? "Its end" : "What failed";
  return (
    <div class="gate-output">
      {text.lines ? (
        <Whole lines={text.lines} />
      ) : (
        <pre class="output" tabIndex={0} role="group" aria-label={excerptName}>
          {text.excerpt.map(({ from, lines }, i) => (
            <>
              {(i > 0 || from > 1) && <span class="gap">{`line ${from}\n`}</span>}
              {harmless(lines.join("\n"))}
              {"\n"}
            </>
          ))}
          {text.excerpt.length === 0 && "No line of it says that something failed."}
        </pre>
      )}
      <button type="button" onClick={() => setWhole(!isWhole)}>
        {isWhole ? excerptName : `All ${plural(text.total, "line")}`}
      </button>
    </div>
  );
}

function Whole({ lines }: { readonly lines: readonly string[] }) {
  const { shown, button } = useMore(lines.length, LINES, "More lines");
  return (
    <>
      <pre class="output" tabIndex={0} role="group" aria-label="All of the output">
        {harmless(lines.slice(0, shown).join("\n"))}
      </pre>
      {button}
    </>
  );
}
