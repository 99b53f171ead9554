/** How does an agent of the Agent Client Protocol talk for a task? One process and one session, prompted turn by turn. */
import { type Failure, failure } from "../../../core/failure.ts";
import type { Said } from "../../../ports/agent.ts";
import type { OpenTalk, TalkPlace, TaskTalk, ToldTask } from "../tasks/talk.ts";
import type { AcpAgent, SaySomething } from "./acp-agent.ts";

/** `maxMs`: how long a session may go on, with all its turns and the waits between them. */
export const acpTalks =
  (agent: AcpAgent, maxMs: number): OpenTalk =>
  (place, signal) =>
    new AcpTalk(agent, { ...place, sessionMs: maxMs }, signal);

class AcpTalk implements TaskTalk {
  /** A session of its own knows nothing of another. */
  readonly hasInherited = false;
  readonly #agent: AcpAgent;
  readonly #place: TalkPlace & { readonly sessionMs: number };
  readonly #signal: AbortSignal;
  /** Begun by the first word. */
  #live: Live | undefined;

  constructor(agent: AcpAgent, place: TalkPlace & { readonly sessionMs: number }, signal: AbortSignal) {
    this.#agent = agent;
    this.#place = place;
    this.#signal = signal;
  }

  async say({ message }: ToldTask): Promise<Said> {
    const isFirst = this.#live === undefined;
    this.#live ??= this.#begin();
    const { system, maxMs } = this.#place;
    const timer = AbortSignal.timeout(maxMs);
    const until = AbortSignal.any([this.#signal, timer]);
    const { opened, over, breakOff } = this.#live;
    const saying = opened.then((say) =>
      say(isFirst ? `${system.trimEnd()}\n\n${message.trimEnd()}\n\n${NO_TOOL}` : message, until),
    );
    const broken = (thrown: unknown) => {
      breakOff(thrown);
      return over;
    };
    // A session that breaks off says why at its end; what its connection throws says less.
    const said = await Promise.race([saying.catch(broken), over]);
    if (said.is === "failed" && timer.aborted) return { ...said, failure: late(maxMs) };
    if (this.#signal.aborted) await over; // Its process has ended then.
    return said;
  }

  #begin(): Live {
    const { job, folder, environment, sessionMs } = this.#place;
    const opened = Promise.withResolvers<SaySomething>();
    const broken = Promise.withResolvers<never>();
    const signal = this.#signal;
    const over = this.#agent
      .hold(
        { job, folder, environment, maxMs: sessionMs },
        async (say) => {
          opened.resolve(say);
          await Promise.race([aborted(signal), broken.promise]);
        },
        signal,
      )
      .then((why): Said => ({ is: "failed", failure: why ?? GONE }));
    broken.promise.catch(() => {}); // Heard by the session, unless it is over already.
    return { opened: opened.promise, over, breakOff: broken.reject };
  }
}

type Live = {
  readonly opened: Promise<SaySomething>;
  readonly over: Promise<Said>;
  readonly breakOff: (thrown: unknown) => void;
};

const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });

const GONE: Failure = failure("interrupted", "the agent's session is over");

const late = (ms: number): Failure =>
  failure("timed-out", `the agent did not answer within ${Math.ceil(ms / 1_000)} s`);

/** The tool that the prompt speaks of is that of Skein's own agent. */
const NO_TOOL =
  "You have no tool `answer` here: end with your answer as one JSON object, as the last thing that you write. " +
  "Change no file.";
