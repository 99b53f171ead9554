/** The rows of controls above a view: a filter with its number of results, and zoom buttons. */
import type { ComponentChildren } from "preact";

type FilterProps = {
  readonly label: string;
  readonly hint: string;
  readonly value: string;
  readonly setValue: (value: string) => void;
  /** Beside the field. */
  readonly children?: ComponentChildren;
};

export const Filter = ({ label, hint, value, setValue, children }: FilterProps) => (
  <div class="row wrap">
    <input
      type="search"
      aria-label={label}
      placeholder={hint}
      value={value}
      onInput={(event) => setValue(event.currentTarget.value)}
    />
    {children}
  </div>
);

type ZoomProps = {
  readonly out: () => void;
  readonly in: () => void;
  readonly fit: () => void;
  /** What is shown, and the view's own buttons. */
  readonly children: ComponentChildren;
};

export const ZoomBar = ({ out, in: nearer, fit, children }: ZoomProps) => (
  <div class="row wrap zoom">
    {children}
    <button type="button" aria-label="Zoom out" onClick={out}>
      −
    </button>
    <button type="button" aria-label="Zoom in" onClick={nearer}>
      +
    </button>
    <button type="button" onClick={fit}>
      Fit
    </button>
  </div>
);
