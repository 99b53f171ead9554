/** The port that exports a run's spans: to a collector while the run goes on or later, or as a document. */
import type { RunHome } from "./runs.ts";

export type Traces = {
  /**
   * Sends spans that end from now on, after event number `after`; undefined if no collector is configured. Neither
   * delays nor fails the run; `warn` is called at most once.
   */
  follow(home: RunHome, after: number, warn: (text: string) => void): TraceFollower | undefined;
  /** All spans so far, in one document. Throws if the log cannot be read. */
  document(home: RunHome): Promise<TraceDocument>;
  /**
   * Sends all spans so far; a collector recognises those that it has by their ids. Throws if the log cannot be read.
   */
  send(home: RunHome, signal: AbortSignal): Promise<TraceSent>;
};

export type TraceFollower = {
  /** Once the engine has ended: sends the rest, within seconds. Does not throw. */
  end(): Promise<void>;
};

/** OTLP as JSON. */
export type TraceDocument = { readonly document: object; readonly spans: number };

export type TraceSent =
  | { readonly is: "sent"; readonly to: string; readonly spans: number; readonly rejected: number }
  /** `isMisconfigured`: sending was not even tried. */
  | {
      readonly is: "failed";
      readonly to: string;
      readonly spans: number;
      readonly why: string;
      readonly isMisconfigured?: true;
    }
  | { readonly is: "not-configured" };
