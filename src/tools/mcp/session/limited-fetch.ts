/**
 * A fetch for the SDK's HTTP transports: no message is larger than the limit, and no request waits for
 * ever.
 *
 * The SDK forgets a request whose answer breaks off, which then waits for its timeout. Here the request
 * gets an error in the answer's place, in the form in which the server would have sent it.
 */

import type { FetchLike } from "@modelcontextprotocol/sdk/shared/transport.js";
import { isJsonObject, tryParseJson } from "../../../base/json.ts";
import { tooLarge } from "./message-lines.ts";

export function limitFetch(send: FetchLike, maxBytes: number): FetchLike {
  return async (url, init) => {
    const answer = await send(url, init);
    const { status, statusText, headers, body } = answer;
    if (!body) return answer;
    const id = findId(init?.body);
    const isStream = headers.get("content-type")?.startsWith("text/event-stream") === true;
    const limited = isStream
      ? ReadableStream.from(limitEvents(body, { maxBytes, id }))
      : await readWhole(body, { maxBytes, id });
    return new Response(limited, { status, statusText, headers: withoutLength(headers) });
  };
}

interface Limit {
  readonly maxBytes: number;
  /** The id of the request that is being answered. */
  readonly id: number | undefined;
}

/** Removes headers that are wrong after the body was unpacked. */
function withoutLength(headers: Headers): Headers {
  const left = new Headers([...headers]);
  left.delete("content-length");
  left.delete("content-encoding");
  return left;
}

function findId(body: unknown): number | undefined {
  const message = typeof body === "string" ? tryParseJson(body) : undefined;
  if (!isJsonObject(message) || message["method"] === undefined) return undefined;
  const { id } = message;
  return typeof id === "number" ? id : undefined;
}

async function readWhole(body: AsyncIterable<Uint8Array>, limit: Limit): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.length;
    if (bytes > limit.maxBytes) return JSON.stringify(tooLarge(limit.id ?? -1, limit.maxBytes));
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

/** A reader that stops early closes the connection. */
async function* limitEvents(
  body: AsyncIterable<Uint8Array>,
  { maxBytes, id }: Limit,
): AsyncGenerator<Uint8Array> {
  const events = createEventMeter();
  try {
    for await (const chunk of body) {
      events.count(chunk);
      if (events.bytes() > maxBytes) {
        if (id === undefined) throw new Error("The server sent an event that is too large.");
        yield toEvent(tooLarge(id, maxBytes));
        return;
      }
      yield chunk;
    }
  } catch (thrown) {
    if (id === undefined || events.canResume()) throw thrown;
  }
  if (id !== undefined && !events.canResume()) yield toEvent(brokeOff(id));
}

/** After a blank line, which ends an incomplete event. A second answer to a request is ignored. */
function toEvent(message: unknown): Uint8Array {
  return Buffer.from(`\n\ndata: ${JSON.stringify(message)}\n\n`);
}

function brokeOff(id: number): object {
  const message = "The connection ended without an answer.";
  return { jsonrpc: "2.0", id, error: { code: -32_603, message } };
}

/** Measures events, and says whether the stream can be resumed where it broke off. */
function createEventMeter(): {
  count(chunk: Uint8Array): void;
  /** The size of the longest event that the last chunk had a part of, as far as it has come. */
  bytes(): number;
  canResume(): boolean;
} {
  let bytes = 0;
  let longest = 0;
  let lineBytes = 0;
  let start = "";
  let hasIds = false;

  function endLine(): void {
    const line = start.trim();
    if (/^id\s*:/.test(line)) hasIds = true;
    if (lineBytes <= 1 && line === "") bytes = 0;
    lineBytes = 0;
    start = "";
  }

  return {
    count(chunk) {
      let from = 0;
      longest = 0;
      while (from < chunk.length) {
        const at = chunk.indexOf(10, from);
        const to = at === -1 ? chunk.length : at;
        lineBytes += to - from;
        bytes += to - from + 1;
        longest = Math.max(longest, bytes);
        if (start.length < 8)
          start += Buffer.from(chunk.subarray(from, from + 8)).toString("latin1");
        if (at !== -1) endLine();
        from = to + 1;
      }
    },
    bytes: () => longest,
    canResume: () => hasIds,
  };
}
