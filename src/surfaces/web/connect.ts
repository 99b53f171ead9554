/** How does the page keep a stream of the server open? It connects again until it is told to end. */

export type Connection = "connecting" | "live" | "lost";
type Heard = {
  /** By the kind of what is sent. */
  readonly on: Readonly<Record<string, (data: unknown) => void>>;
  readonly onState: (connection: Connection) => void;
};

/** A browser does not try again where an answer came, such as that of a proxy whose server is away. */
const AGAIN_MS = 2_000;

/**
 * Ends when the function is called that it returns. Not while the tab is hidden: a browser keeps six connections to a
 * server for all its tabs, and the seventh would wait for ever.
 */
export function connect(address: () => string, { on, onState }: Heard): () => void {
  let source: EventSource | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const end = () => {
    clearTimeout(timer);
    source?.close();
    source = undefined;
  };
  const begin = () => {
    const opened = new EventSource(address());
    source = opened;
    opened.onopen = () => onState("live");
    opened.onerror = () => {
      onState("lost");
      if (opened.readyState === EventSource.CLOSED) timer = setTimeout(begin, AGAIN_MS);
    };
    for (const [kind, take] of Object.entries(on))
      opened.addEventListener(kind, ({ data }: MessageEvent<string>) => take(JSON.parse(data)));
  };
  const look = () => {
    end();
    if (!document.hidden) begin();
  };
  document.addEventListener("visibilitychange", look);
  look();
  return () => {
    document.removeEventListener("visibilitychange", look);
    end();
  };
}
