/** A button that copies a text, and confirms it. */
import { useState } from "preact/hooks";

const SAID_MS = 2_000;

export function CopyButton({ text }: { readonly text: string }) {
  const [said, setSaid] = useState("");
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      setSaid("Copied");
    } catch {
      setSaid("Select it by hand"); // Without TLS a browser allows copying only to pages of this machine.
    }
    setTimeout(() => setSaid(""), SAID_MS);
  };
  return (
    <button type="button" onClick={() => void copy()} aria-live="polite">
      {said || "Copy"}
    </button>
  );
}
