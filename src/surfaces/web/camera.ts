/** Moves and scales a picture that is larger than its box. Shows all of it until the person moves it. */
import type { RefObject } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { STEP, useGestures } from "./gestures.ts";
import { THUMB_SCALE } from "./layout.ts";

type Size = { readonly width: number; readonly height: number };
/** In px of the picture itself. */
type Looked = {
  readonly left: number;
  readonly top: number;
  readonly right: number;
  readonly bottom: number;
  readonly scale: number;
};

const MIN_SCALE = 0.02;
const MAX_SCALE = 2;
/** On narrower screens tasks must be large enough for a thumb at first; the whole picture is shown on request. */
const NARROW_PX = 600;
/** At least so much of the picture stays in its box, in px of the screen. */
const KEPT_PX = 80;
/** The drawn margin around the box, in px of the screen, so that a small move shows nothing empty. */
const SPARE_PX = 200;
const LOOK_MS = 80;
/** Below this scale, names are too small to read. */
export const FAR_SCALE = 0.45;

/** The size of an element, now and whenever it changes. */
export function useSize(box: Readonly<RefObject<HTMLElement | null>>): Size {
  const [size, setSize] = useState<Size>({ width: 1_200, height: 600 });
  useLayoutEffect(() => {
    const element = box.current;
    if (!element) return;
    const measure = () => setSize({ width: element.clientWidth, height: element.clientHeight });
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    return () => observer.disconnect();
  }, [box]);
  return size;
}

export function useCamera(
  box: Readonly<RefObject<HTMLElement | null>>,
  layer: Readonly<RefObject<HTMLElement | null>>,
  picture: Size,
) {
  const camera = useRef({ x: 0, y: 0, scale: 1 });
  const isMoved = useRef(false);
  const isFitted = useRef(false);
  const size = useSize(box);
  const [looked, setLooked] = useState<Looked>({ left: 0, top: 0, right: 2_000, bottom: 1_200, scale: 1 });
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);

  const place = (x: number, y: number, scale: number) => {
    const { width, height } = size;
    const keep = (at: number, all: number, own: number) =>
      Math.max(
        Math.min(KEPT_PX, own * scale) - own * scale,
        Math.min(all - Math.min(KEPT_PX, own * scale), at),
      );
    camera.current = { x: keep(x, width, picture.width), y: keep(y, height, picture.height), scale };
    if (layer.current)
      layer.current.style.transform = `translate(${camera.current.x}px, ${camera.current.y}px) scale(${scale})`;
    timer.current ??= setTimeout(() => {
      timer.current = undefined;
      const { x: left, y: top, scale: now } = camera.current;
      setLooked({
        left: (-left - SPARE_PX) / now,
        top: (-top - SPARE_PX) / now,
        right: (width - left + SPARE_PX) / now,
        bottom: (height - top + SPARE_PX) / now,
        scale: now,
      });
    }, LOOK_MS);
  };
  const showAll = () => {
    const { width, height } = size;
    const fitting = Math.min(1, width / picture.width, height / picture.height);
    const scale = width < NARROW_PX && !isFitted.current ? Math.max(fitting, THUMB_SCALE) : fitting;
    const middle = (all: number, own: number) => Math.max(0, (all - own * scale) / 2);
    place(middle(width, picture.width), middle(height, picture.height), scale);
  };
  const moves = {
    pan: (dx: number, dy: number) => {
      isMoved.current = true;
      const { x, y, scale } = camera.current;
      place(x + dx, y + dy, scale);
    },
    zoom: (factor: number, atX: number, atY: number) => {
      isMoved.current = true;
      const { x, y, scale: before } = camera.current;
      const scale = Math.max(MIN_SCALE, Math.min(MAX_SCALE, before * factor));
      const by = scale / before;
      place(atX - (atX - x) * by, atY - (atY - y) * by, scale);
    },
    fit: () => {
      isMoved.current = false;
      isFitted.current = true;
      showAll();
    },
    /** If names are too small to read, a click zooms in. */
    press: (atX: number, atY: number) => {
      const { scale } = camera.current;
      if (scale < FAR_SCALE) moves.zoom(1 / scale, atX, atY);
    },
  };
  useGestures(box, moves, "zooms");
  useEffect(() => () => clearTimeout(timer.current), []);
  useLayoutEffect(() => {
    if (picture.width === 0) return;
    if (isMoved.current) moves.pan(0, 0);
    else showAll();
  }, [picture.width, picture.height, size]);

  const step = (factor: number) => moves.zoom(factor, size.width / 2, size.height / 2);
  /** Moves the picture so that the focused element is visible. */
  const reveal = (element: Element) => {
    const [own, all] = [element.getBoundingClientRect(), box.current!.getBoundingClientRect()];
    const into = (from: number, to: number, min: number, max: number) =>
      from < min ? min - from + 20 : to > max ? max - to - 20 : 0;
    const [dx, dy] = [
      into(own.left, own.right, all.left, all.right),
      into(own.top, own.bottom, all.top, all.bottom),
    ];
    if (dx !== 0 || dy !== 0) moves.pan(dx, dy);
  };
  return {
    size,
    looked,
    reveal,
    fit: moves.fit,
    zoomIn: () => step(STEP),
    zoomOut: () => step(1 / STEP),
  };
}
