/** Shows the first entries of a long list, and more when asked. */
import { useState } from "preact/hooks";

/** How many to show, and the button that shows more; nothing if that is all. */
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
