/** Computes what takes long in a task of its own, so that it adds nothing to a draw. */
import { useEffect, useRef, useState } from "preact/hooks";

/** Computed at most so often that this is its share of the page's time, in parts. */
const SHARE = 20;

/** The newest value that is ready, made anew when `when` changes; `first` until there is one. */
export function useLater<T>(compute: () => T, when: readonly unknown[], first: T): T {
  const [value, setValue] = useState(first);
  const notBefore = useRef(0);
  useEffect(() => {
    let timer = setTimeout(() => {
      const started = performance.now();
      const next = compute();
      const now = performance.now();
      notBefore.current = now + (now - started) * SHARE;
      timer = setTimeout(() => setValue(next)); // Drawn in another task.
    }, notBefore.current - performance.now());
    return () => clearTimeout(timer);
  }, when);
  return value;
}
