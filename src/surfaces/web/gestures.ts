/** Turns gestures on a picture into moves and zooms: drag, wheel, pinch, and keys. */
import type { RefObject } from "preact";
import { useEffect, useRef } from "preact/hooks";

type Moves = {
  /** In px of the screen. */
  readonly pan: (dx: number, dy: number) => void;
  /** Around a point, in px from the upper left corner of the box. */
  readonly zoom: (factor: number, x: number, y: number) => void;
  readonly fit: () => void;
  /** A press on something that is neither a link nor a button. */
  readonly press?: (x: number, y: number) => void;
};

/** The zoom factor for one press of a button or a key. */
export const STEP = 1.4;
const KEY_PX = 80;
/** A shorter movement counts as a click. */
const DRAG_PX = 5;

/**
 * `wheel`: whether the wheel zooms by itself, or only with Ctrl (as a touchpad's pinch does) because it scrolls the
 * page.
 */
export function useGestures(
  box: Readonly<RefObject<HTMLElement | null>>,
  moves: Moves,
  wheel: "zooms" | "scrolls",
): void {
  const newest = useRef(moves);
  newest.current = moves;
  useEffect(() => {
    const element = box.current;
    if (!element) return;
    const stop = new AbortController();
    const on = <K extends keyof HTMLElementEventMap>(
      kind: K,
      take: (event: HTMLElementEventMap[K]) => void,
      options: AddEventListenerOptions = {},
    ) => element.addEventListener(kind, take, { ...options, signal: stop.signal });
    const placeOf = ({ clientX, clientY }: { readonly clientX: number; readonly clientY: number }) => {
      const { left, top } = element.getBoundingClientRect();
      return [clientX - left, clientY - top] as const;
    };
    on(
      "wheel",
      (event) => {
        if (wheel === "scrolls" && !event.ctrlKey && !event.metaKey) {
          if (Math.abs(event.deltaX) <= Math.abs(event.deltaY)) return;
          event.preventDefault();
          newest.current.pan(-event.deltaX, 0);
          return;
        }
        event.preventDefault();
        const px = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? event.deltaY * 16 : event.deltaY;
        newest.current.zoom(Math.exp(-Math.max(-120, Math.min(120, px)) / 300), ...placeOf(event));
      },
      { passive: false },
    );
    const fingers = new Map<number, PointerEvent>();
    let moved = 0;
    on("pointerdown", (event) => {
      if (event.button !== 0) return;
      if (fingers.size === 0) moved = 0;
      fingers.set(event.pointerId, event);
    });
    on("pointermove", (event) => {
      const before = fingers.get(event.pointerId);
      if (!before) return;
      const [dx, dy] = [event.clientX - before.clientX, event.clientY - before.clientY];
      moved += Math.hypot(dx, dy);
      if (moved < DRAG_PX && fingers.size === 1) return;
      // Only a drag captures the pointer, because the click after a capture goes to the capturing element.
      element.setPointerCapture(event.pointerId);
      const other = fingers.values().find(({ pointerId }) => pointerId !== event.pointerId);
      fingers.set(event.pointerId, event);
      if (!other) return newest.current.pan(dx, dy);
      const apart = (one: PointerEvent) =>
        Math.hypot(one.clientX - other.clientX, one.clientY - other.clientY);
      const [ax, ay] = placeOf(other);
      const [bx, by] = placeOf(event);
      newest.current.pan(dx / 2, dy / 2);
      return newest.current.zoom(apart(event) / Math.max(1, apart(before)), (ax + bx) / 2, (ay + by) / 2);
    });
    const lift = (event: PointerEvent) => void fingers.delete(event.pointerId);
    on("pointerup", lift);
    on("pointercancel", lift);
    on("lostpointercapture", lift);
    // Dragging a picture by one of its links must not follow the link.
    on("dragstart", (event) => event.preventDefault());
    on(
      "click",
      (event) => {
        if (moved < DRAG_PX) {
          if (!(event.target as Element).closest("a, button")) newest.current.press?.(...placeOf(event));
          return;
        }
        event.preventDefault();
        event.stopPropagation();
        moved = 0;
      },
      { capture: true },
    );
    on("keydown", (event) => {
      if (event.target !== element || event.ctrlKey || event.metaKey || event.altKey) return;
      const { clientWidth, clientHeight } = element;
      const zoom = (factor: number) => newest.current.zoom(factor, clientWidth / 2, clientHeight / 2);
      const keys: Readonly<Record<string, () => void>> = {
        ArrowLeft: () => newest.current.pan(KEY_PX, 0),
        ArrowRight: () => newest.current.pan(-KEY_PX, 0),
        ArrowUp: () => newest.current.pan(0, KEY_PX),
        ArrowDown: () => newest.current.pan(0, -KEY_PX),
        "+": () => zoom(STEP),
        "=": () => zoom(STEP),
        "-": () => zoom(1 / STEP),
        "0": () => newest.current.fit(),
      };
      const act = keys[event.key];
      if (!act) return;
      event.preventDefault();
      act();
    });
    return () => stop.abort();
  }, [box, wheel]);
}
