/** Streams one response into a turn. If the connection breaks, it continues from the same event. */

import { ApiFailure, messageOf, post, runPath, send } from "../../core/api.ts";
import { toCount } from "../../core/format.ts";
import { readEvents } from "../../core/sse.ts";
import { change, type Turn, type TurnCall, toBody, turns, type Wish, wish } from "./wish.ts";

interface StreamedItem {
  readonly id?: string;
  readonly type: string;
  readonly name?: string;
  readonly arguments?: string;
  readonly output?: unknown;
  readonly error?: unknown;
  readonly status?: string;
}

interface StreamedEvent {
  readonly type: string;
  readonly sequence_number?: number;
  readonly delta?: string;
  readonly item?: StreamedItem;
  readonly message?: string;
  readonly response?: {
    readonly id: string;
    readonly usage?: { readonly input_tokens: number; readonly output_tokens: number } | null;
    readonly error?: { readonly message: string } | null;
    readonly incomplete_details?: { readonly reason?: string } | null;
  };
}

const TERMINAL = /^response\.(completed|incomplete|failed|cancelled)$/;
const AGAIN_MS = 1000;
/** Publishing each delta would draw the page for each of them. */
const FLUSH_MS = 60;

/**
 * A failure is shown in the turn; the typed text comes back into the box, unless there is new text in it.
 */
export async function streamTurn(asked: Wish, signal: AbortSignal): Promise<void> {
  const before = turns.peek();
  const follows = before.findLast(({ id, failed }) => id !== "" && !failed)?.id;
  const teller = createTeller(before, asked);
  try {
    const response = await send("responses", {
      method: "POST",
      body: JSON.stringify(toBody(asked, follows)),
      headers: { "content-type": "application/json" },
      signal,
    });
    await readToEnd(response, teller, signal);
  } catch (failure) {
    const text = signal.aborted ? "Stopped." : messageOf(failure);
    teller.tell({ note: text, failed: true });
    giveBack(asked);
  } finally {
    teller.tell({ isOpen: false });
    teller.flush();
  }
}

/**
 * Ends the response itself, and not only the connection: a stored response would continue without its client.
 */
export async function stopTurn(turn: Turn | undefined): Promise<void> {
  if (turn?.id) await post(`${runPath(toRunId(turn.id))}/cancel`);
}

/** The run of a response has the response's name with another prefix. */
export function toRunId(id: string): string {
  return id.replace(/^resp_/, "run_");
}

function giveBack(asked: Wish): void {
  const { prompt, files } = wish.peek();
  if (prompt.trim() === "" && files.length === 0) {
    change({ prompt: asked.prompt, files: asked.files });
  }
}

interface Teller {
  readonly turn: Turn;
  tell(changed: Partial<Turn>): void;
  flush(): void;
}

function createTeller(before: readonly Turn[], { prompt, files }: Wish): Teller {
  let turn: Turn = {
    prompt,
    files,
    text: "",
    thinking: "",
    id: "",
    calls: [],
    note: "",
    failed: false,
    isOpen: true,
  };
  let timer: ReturnType<typeof setTimeout> | undefined;
  const flush = (): void => {
    clearTimeout(timer);
    timer = undefined;
    turns.value = [...before, turn];
  };
  flush();
  return {
    get turn() {
      return turn;
    },
    flush,
    tell(changed) {
      turn = { ...turn, ...changed };
      timer ??= setTimeout(flush, FLUSH_MS);
    },
  };
}

async function readToEnd(first: Response, teller: Teller, signal: AbortSignal): Promise<void> {
  const progress = { seen: -1, isOver: false };
  for (let response: Response | undefined = first; ; ) {
    if (response) await readOn(response, teller, progress).catch(rethrowIf(signal));
    if (progress.isOver) return;
    const { id } = teller.turn;
    if (id === "") {
      throw new ApiFailure(0, "unreachable", "The connection was lost before it began.");
    }
    teller.tell({
      note: "The connection was lost. The response continues; waiting for the server…",
    });
    await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
    response = await takeUp(id, progress.seen, signal);
  }
}

/** A broken connection is not a failure, unless the person ended it. */
function rethrowIf(signal: AbortSignal): (failure: unknown) => void {
  return (failure) => {
    if (signal.aborted) throw failure;
  };
}

interface Progress {
  /** The number of the last event. */
  seen: number;
  isOver: boolean;
}

async function readOn(response: Response, teller: Teller, progress: Progress): Promise<void> {
  for await (const data of readEvents(response)) {
    const event = data as StreamedEvent;
    progress.seen = event.sequence_number ?? progress.seen;
    progress.isOver ||= TERMINAL.test(event.type);
    teller.tell(toChange(teller.turn, event));
  }
}

/** Undefined if the server does not answer yet. */
async function takeUp(
  id: string,
  seen: number,
  signal: AbortSignal,
): Promise<Response | undefined> {
  try {
    return await send(`responses/${id}?stream=true&starting_after=${seen}`, { signal });
  } catch (failure) {
    if (failure instanceof ApiFailure && failure.status === 0 && !signal.aborted) return undefined;
    throw failure;
  }
}

function toChange(turn: Turn, event: StreamedEvent): Partial<Turn> {
  switch (event.type) {
    case "response.created":
      return { id: event.response?.id ?? "", note: "" };
    case "response.output_text.delta":
    case "response.refusal.delta":
      return { text: turn.text + (event.delta ?? ""), note: "" };
    case "response.reasoning_summary_text.delta":
    case "response.reasoning_text.delta":
      return { thinking: turn.thinking + (event.delta ?? "") };
    case "response.output_item.added":
    case "response.output_item.done":
      return event.item ? { calls: withCall(turn.calls, event.item) } : {};
    case "response.completed":
      return { note: toUsed(event) };
    case "response.incomplete": {
      const why = event.response?.incomplete_details?.reason ?? "it was cut";
      return { note: `Incomplete: ${why}. ${toUsed(event)}` };
    }
    case "response.cancelled":
      return { note: "Stopped.", failed: true };
    case "response.failed":
    case "error": {
      const said = event.response?.error?.message ?? event.message;
      return { note: said ?? "The response failed.", failed: true };
    }
    default:
      return {};
  }
}

function toUsed({ response }: StreamedEvent): string {
  const usage = response?.usage;
  return usage
    ? `${toCount(usage.input_tokens)} tokens in, ${toCount(usage.output_tokens)} out`
    : "";
}

/** An item that is a tool call: begun, or finished with its result. */
function withCall(calls: readonly TurnCall[], item: StreamedItem): readonly TurnCall[] {
  if (!/_call$/.test(item.type)) return calls;
  const id = item.id ?? "";
  const isDone =
    item.status === "completed" || item.status === "failed" || item.output !== undefined;
  const call: TurnCall = {
    id,
    name: item.name ?? item.type,
    given: item.arguments ?? "",
    output: isDone ? toOutput(item) : undefined,
    failed: item.status === "failed" || Boolean(item.error),
  };
  const others = calls.filter((one) => one.id !== id);
  return [...others, call];
}

function toOutput({
  output,
  error,
  type: _,
  id: __,
  name: ___,
  status,
  ...rest
}: StreamedItem): string {
  if (typeof output === "string" && output !== "") return output;
  if (error) return JSON.stringify(error);
  return output === undefined || output === null
    ? JSON.stringify({ status, ...rest }, null, 2)
    : JSON.stringify(output, null, 2);
}
