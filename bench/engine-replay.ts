/** Measures the replay of a log, compared with parsing it; runs as a process of its own, on a file of lines. */
import { readFileSync } from "node:fs";
import type { Event } from "../src/core/log/event.ts";
import { evolve, replay } from "../src/core/log/evolve.ts";
import { emptyState, type RunState } from "../src/core/log/state.ts";
import { median, usedBytes } from "./measure.ts";

export type ReplayFigures = {
  readonly parseMs: number;
  readonly evolveMs: number;
  readonly bothMs: number;
  /** Medians of the rounds, each compared with the parsing directly before and after it. */
  readonly evolveRatio: number;
  readonly bothRatio: number;
  /** The first round, before any code was compiled: what a starting engine pays. */
  readonly coldRatio: number;
  /** The size of the state without the log. */
  readonly stateBytes: number;
};

const WARM_UPS = 4;
const ROUNDS = 11;

if (import.meta.main) {
  const lines = readFileSync(process.argv[2]!, "utf8").trimEnd().split("\n");
  console.log(JSON.stringify(measure(lines)));
}

function measure(lines: readonly string[]): ReplayFigures {
  const coldMs = cpuMs(() => replayLines(lines));
  const bytes = stateBytes(lines);
  const events = lines.map(parse);
  for (let round = 0; round < WARM_UPS; round += 1) {
    parseLines(lines);
    replay(events);
    replayLines(lines);
  }
  const rounds = Array.from({ length: ROUNDS }, () => {
    const before = cpuMs(() => parseLines(lines));
    const evolveMs = cpuMs(() => replay(events));
    const bothMs = cpuMs(() => replayLines(lines));
    const parseMs = (before + cpuMs(() => parseLines(lines))) / 2;
    return { parseMs, evolveMs, bothMs };
  });
  const parseMs = median(rounds.map((round) => round.parseMs));
  return {
    parseMs,
    evolveMs: median(rounds.map((round) => round.evolveMs)),
    bothMs: median(rounds.map((round) => round.bothMs)),
    evolveRatio: median(rounds.map((round) => round.evolveMs / round.parseMs)),
    bothRatio: median(rounds.map((round) => round.bothMs / round.parseMs)),
    coldRatio: coldMs / parseMs,
    stateBytes: bytes,
  };
}

function parse(line: string): Event {
  return JSON.parse(line) as Event;
}

function parseLines(lines: readonly string[]): void {
  for (const line of lines) parse(line);
}

function replayLines(lines: readonly string[]): RunState {
  const state = emptyState();
  for (const line of lines) evolve(state, parse(line));
  return state;
}

/**
 * Milliseconds of processor time of all threads. Does not collect garbage first: with the last state its hidden classes
 * would go, and with them the code that was compiled for them.
 */
function cpuMs(work: () => unknown): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

function stateBytes(lines: readonly string[]): number {
  const before = usedBytes();
  const held = [replayLines(lines)];
  const bytes = usedBytes() - before;
  held.length = 0;
  return bytes;
}
