/** Reads server-sent events from the body of a response as they arrive. */

type Take = (kind: string, data: unknown) => void;

export async function readMessages(body: ReadableStream, take: Take, signal: AbortSignal): Promise<void> {
  let rest = "";
  const write = async (part: string) => {
    const blocks = (rest + part).split("\n\n");
    rest = blocks.pop()!;
    for (const block of blocks) {
      if (signal.aborted) return;
      // The server writes each field in one line. Text of a model may contain any other kind of line end.
      const lines = block.split("\n");
      const field = (name: string) => lines.find((line) => line.startsWith(name))?.slice(name.length);
      take(field("event: ") ?? "message", JSON.parse(field("data: ")!));
      await new Promise((resolve) => setTimeout(resolve)); // Each message in a task of its own.
    }
  };
  await body.pipeThrough(new TextDecoderStream()).pipeTo(new WritableStream({ write }), { signal });
}
