/**
 * A model of your own in place of a vendor: an async generator of events. This one repeats what it is told, word by
 * word. In a clone: `node scripts/compile.js`, then `node build/examples/custom-provider.js`.
 */

import { fileURLToPath } from "node:url";
import { createRuntime, Failure, type ModelEvent, type Provider } from "offshoot";
import { toUsage } from "offshoot/protocol";

const MESSAGE = { type: "message", id: "msg_1", role: "assistant" } as const;

/** Each `yield` reaches readers of the run at once. The events of an item have its number, here 0. */
export const parrot: Provider = {
  name: "parrot",
  async *stream({ items }, { signal }) {
    const last = items.at(-1);
    if (last?.type !== "message") throw new Failure("provider_rejected", "Say something.");
    yield [
      { type: "start", model: "parrot", response_id: "" },
      { type: "item_start", index: 0, item: { ...MESSAGE, status: "in_progress", content: [] } },
    ];
    const text = `You said: ${toText(last.content)}`;
    for (const delta of text.split(/(?<= )/)) {
      // A run that is cancelled, or whose time is over, stops the generator here.
      signal.throwIfAborted();
      yield [{ type: "text_delta", index: 0, part: 0, delta }];
    }
    yield* end(text);
  },
};

/** The item as a whole, and what the answer used. Without `end` an answer counts as broken off. */
function* end(text: string): Generator<readonly ModelEvent[]> {
  const content = [{ type: "output_text" as const, text, annotations: [] }];
  const usage = toUsage({ input: 10, output: text.split(" ").length });
  yield [
    { type: "item_end", index: 0, item: { ...MESSAGE, status: "completed", content } },
    { type: "end", reason: "stop", usage, continuation: undefined },
  ];
}

function toText(content: string | readonly object[]): string {
  if (typeof content === "string") return content;
  return content.map((part) => ("text" in part ? String(part.text) : "")).join("");
}

/** `provider` answers every run of the runtime. Yields the pieces in which the text arrives. */
export async function* askOwnModel(input: string): AsyncGenerator<string> {
  const runtime = await createRuntime({ provider: parrot });
  try {
    const run = await runtime.run({ model: "custom/parrot", input });
    yield* run.text();
    const { ending, message } = await run.result();
    if (ending !== "completed") throw new Error(message);
  } finally {
    await runtime.close();
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  for await (const piece of askOwnModel("Hello, my friend")) process.stdout.write(piece);
  process.stdout.write("\n");
}
