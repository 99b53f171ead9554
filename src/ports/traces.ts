/** How do the spans of a run leave Skein? To a collector while the run goes on or later, or as a document. */
import type { RunHome } from "./runs.ts";

export type Traces = {
  /**
   * Sends what ends from now on, after event number `after`; undefined if no collector is configured. Neither delays
   * nor fails the run; `warn` is called at most once.
   */
  follow(home: RunHome, after: number, warn: (text: string) => void): TraceFollower | undefined;
  /** Every span so far, in one document. Throws if the log cannot be read. */
  document(home: RunHome): Promise<TraceDocument>;
  /** Sends every span so far; a collector that has one already knows it by its id. Throws if the log cannot be read. */
  send(home: RunHome, signal: AbortSignal): Promise<TraceSent>;
};

export type TraceFollower = {
  /** Once the engine has ended: sends what is left, within seconds. Does not throw. */
  end(): Promise<void>;
};

/** OTLP in JSON. */
export type TraceDocument = { readonly document: object; readonly spans: number };

export type TraceSent =
  | { readonly is: "sent"; readonly to: string; readonly spans: number; readonly rejected: number }
  /** `isMisconfigured`: it was not even tried. */
  | {
      readonly is: "failed";
      readonly to: string;
      readonly spans: number;
      readonly why: string;
      readonly isMisconfigured?: true;
    }
  | { readonly is: "not-configured" };
