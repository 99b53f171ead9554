/** Shows the first entries of a long list, and more on request. */
import { useState } from "preact/hooks";

/** How many to show, and the button that shows more; no button if all are shown. */
export function useMore(total: number, step: number, name: string) {
  const [shown, setShown] = useState(step);
  const button =
    total > shown ? (
      <button type="button" onClick={() => setShown(shown + step)}>
        {name} ({total - shown} more)
      </button>
    ) : null;
  return { shown, button };
}
