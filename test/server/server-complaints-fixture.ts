/**
 * Shared by the tests of complaints: one server for each provider in a suite, and functions that read answers.
 */

import assert from "node:assert/strict";
import type { EmittedEvent, EmittedResponse } from "../../src/protocol/emitted.ts";
import type { ModelEvent } from "../../src/protocol/model-events.ts";
import type { ModelRequest } from "../../src/providers/provider.ts";
import {
  type Reply,
  reply,
  respond,
  type ScriptEngine,
  type Upstream,
} from "../../src/testing/index.ts";
import {
  type ProviderName,
  type ProviderServer,
  startProviderServer,
  suiteContext,
} from "../conformance/provider-servers.ts";
import type { ServerSetup, TestServer } from "./server-fixture.ts";

export type Answer = (request: ModelRequest) => Reply;

export interface Asked {
  readonly server: ProviderServer["server"];
  /** The requests to the model since this test began, as its own server understood them. */
  readonly asked: ModelRequest[];
  /** Where it is; undefined for the embedded model. */
  readonly upstream: Upstream | undefined;
  /** The last request to it as it was sent. */
  sent(): string;
}

/** Starts what is not there yet. Called once a suite; the answers are for one test. */
export function createServers(
  setup: ServerSetup = {},
): (name: ProviderName, ...answers: readonly Reply[] | readonly [Answer]) => Promise<Asked> {
  const context = suiteContext();
  const servers = new Map<ProviderName, Promise<ProviderServer>>();
  const answers = new Map<ProviderName, Answer>();
  return async (name, ...given) => {
    const asked: ModelRequest[] = [];
    const answer = toAnswer(given);
    answers.set(name, (request) => {
      asked.push(request);
      return answer(request);
    });
    const engine = respond((request) => (answers.get(name) ?? assert.fail())(request));
    const starting = servers.get(name) ?? startProviderServer(context, name, engine, setup);
    servers.set(name, starting);
    const { server, upstream } = await starting;
    return { server, asked, upstream, sent: () => upstream?.requests.at(-1)?.text ?? "" };
  };
}

function toAnswer(given: readonly Reply[] | readonly [Answer]): Answer {
  const [first] = given;
  if (typeof first === "function") return first;
  const rest = [...(given as readonly Reply[])];
  return () => rest.shift() ?? reply.status(500, "nothing more to say");
}

/** The settings of a server whose model is there. */
export function modelAt({ url }: Upstream, provider: string, model = "custom/m"): ServerSetup {
  const usual = { model, provider, url, api_key_name: null };
  return { settings: { models: { named: [], usual } } };
}

export function lastOf(events: readonly EmittedEvent[]): EmittedResponse {
  const last = events.at(-1);
  assert.ok(last && "response" in last, `the last event is ${last?.type}`);
  return last.response;
}

/** The id of the response of these events. */
export function idOf(events: readonly EmittedEvent[]): string {
  const [first] = events;
  assert.ok(first && "response" in first);
  return first.response.id;
}

export function typesOf(items: readonly { readonly type: string }[]): string[] {
  return items.map(({ type }) => type);
}

export interface OpenStream {
  readonly status: number;
  readonly headers: Headers;
  /** The bytes so far, as text. */
  readonly text: string;
  /** Reads on until the text so far fits. */
  until(fits: (text: string) => boolean): Promise<string>;
  /** Reads to the end. */
  rest(): Promise<string>;
  /** Goes away in the middle. */
  leave(): Promise<void>;
}

/** A streamed request that is read while it comes. */
export async function openStream(
  { url }: Pick<TestServer, "url">,
  path: string,
  body?: object,
): Promise<OpenStream> {
  const away = new AbortController();
  const init = body ? { method: "POST", body: JSON.stringify(body) } : {};
  const answer = await fetch(`${url}${path}`, { ...init, signal: away.signal });
  const reader = (answer.body ?? assert.fail()).pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  const until = async (fits: (text: string) => boolean): Promise<string> => {
    while (!fits(text)) {
      const { done, value } = await reader.read();
      assert.ok(!done, `ended with:\n${text}`);
      text += value;
    }
    return text;
  };
  return {
    status: answer.status,
    headers: answer.headers,
    get text() {
      return text;
    },
    until,
    async rest() {
      for (;;) {
        const { done, value } = await reader.read();
        if (done) return text;
        text += value;
      }
    },
    async leave() {
      away.abort();
      await reader.cancel().catch(() => {});
    },
  };
}

export interface StepModel {
  readonly engine: ScriptEngine;
  say(text: string): void;
  end(): void;
}

/** A model that says what it is told to, when it is told to: one message, to one request. */
export function createStepModel(): StepModel {
  const queue: (string | undefined)[] = [];
  let wake = (): void => {};
  const push = (piece: string | undefined): void => {
    queue.push(piece);
    wake();
  };
  async function* engine(
    { model }: { readonly model: string },
    { signal }: { readonly signal: AbortSignal },
  ): AsyncGenerator<readonly ModelEvent[]> {
    signal.addEventListener("abort", () => wake());
    const item = { type: "message", id: "msg_1", role: "assistant" } as const;
    yield [{ type: "start", response_id: "resp_1", model }];
    yield [{ type: "item_start", index: 0, item: { ...item, status: "in_progress", content: [] } }];
    let said = "";
    for (;;) {
      while (queue.length === 0 && !signal.aborted) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
      if (signal.aborted) return;
      const piece = queue.shift();
      if (piece === undefined) break;
      said += piece;
      yield [{ type: "text_delta", index: 0, part: 0, delta: piece }];
    }
    const content = [{ type: "output_text" as const, text: said, annotations: [], logprobs: [] }];
    yield [{ type: "item_end", index: 0, item: { ...item, status: "completed", content } }];
    const usage = {
      input_tokens: 1,
      output_tokens: 1,
      total_tokens: 2,
      input_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 },
      output_tokens_details: { reasoning_tokens: 0 },
    };
    yield [{ type: "end", reason: "stop", usage, continuation: undefined }];
  }
  return { engine, say: push, end: () => push(undefined) };
}
