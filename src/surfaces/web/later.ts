/** How is something computed that takes long? In a task of its own, so that it adds nothing to a draw. */
import { useEffect, useState } from "preact/hooks";

/** The newest value that is ready; `first` until there is one. */
export function useLater<T>(compute: () => T, when: readonly unknown[], first: T): T {
  const [value, setValue] = useState(first);
  useEffect(() => {
    const timer = setTimeout(() => setValue(compute()));
    return () => clearTimeout(timer);
  }, when);
  return value;
}
