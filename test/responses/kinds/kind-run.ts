/** A response over a scripted model that knows functions alone, with kinds of tools between them. */

import assert from "node:assert/strict";
import { createAccount } from "../../../src/agent/account.ts";
import { NO_LIMITS } from "../../../src/agent/limits.ts";
import { runLoop } from "../../../src/agent/loop.ts";
import { type AgentTask, encodeTask, parseTask, SAFEGUARDS } from "../../../src/agent/task.ts";
import { systemClock } from "../../../src/base/clock.ts";
import { makeId } from "../../../src/base/ids.ts";
import { createLocalEngine } from "../../../src/engine/local-engine.ts";
import type { EmittedEvent, EmittedResponse } from "../../../src/protocol/emitted.ts";
import { type Item, toItems } from "../../../src/protocol/items.ts";
import type { Tool, ToolChoice } from "../../../src/protocol/tools.ts";
import type { ModelRequest } from "../../../src/providers/provider.ts";
import { openBridge } from "../../../src/responses/bridge/bridge.ts";
import { bridgeProvider } from "../../../src/responses/bridge/bridged-provider.ts";
import { NOT_NATIVE } from "../../../src/responses/bridge/native.ts";
import { createResponseCalls } from "../../../src/responses/bridge/response-calls.ts";
import { createEventWriter } from "../../../src/responses/fold/event-writer.ts";
import type { ToolKind } from "../../../src/responses/kinds/tool-kind.ts";
import { parseAsked } from "../../../src/responses/request/asked-response.ts";
import { toEcho } from "../../../src/responses/request/echo.ts";
import { encodeResponseSettings } from "../../../src/responses/request/response-settings.ts";
import { createMemoryStore } from "../../../src/store/memory/memory-store.ts";
import type { Reply } from "../../../src/testing/reply.ts";
import { createScriptedProvider } from "../../../src/testing/scripted-provider.ts";
import { createGate } from "../../../src/tools/gate/gate.ts";
import { checkPublished } from "../../conformance/check.ts";
import { patience } from "../../patience.ts";
import { createWorkspaceFolder, toGateParts } from "../../tools/workspace-folder.ts";

export interface KindSetup {
  readonly kinds: readonly ToolKind[];
  readonly tools: readonly object[];
  readonly replies: readonly Reply[];
  readonly items?: readonly Item[];
  readonly include?: readonly string[];
  readonly toolChoice?: ToolChoice;
  readonly files?: Readonly<Record<string, string>>;
}

export interface KindRun {
  readonly events: readonly EmittedEvent[];
  readonly response: EmittedResponse;
  /** The requests to the model. */
  readonly requests: readonly ModelRequest[];
  /** The conversation, as the next request would give it back. */
  readonly items: readonly Item[];
  /** The files of the workspace afterwards, by path. */
  readonly read: (path: string) => Promise<string>;
}

const HELLO = toItems("Hello");

/** Every event is held against the published description. */
export async function runKinds(
  setup: KindSetup,
  look?: (run: KindRun) => unknown,
): Promise<KindRun> {
  const { kinds, items = HELLO, include = [], toolChoice = "auto" } = setup;
  const tools = setup.tools as readonly Tool[];
  using folder = createWorkspaceFolder(setup.files);
  const provider = createScriptedProvider(...setup.replies);
  const engine = createLocalEngine({ store: createMemoryStore(), clock: systemClock });
  const { root } = folder;
  engine.define("response", async (context, input) => {
    const task = parseTask(input);
    const signal = context.signal;
    const about = { runId: context.id, include: new Set(include), catalogue: [], signal, items };
    const request = { tenant: "t", ...about };
    const bridge = await openBridge({ tools, kinds, native: NOT_NATIVE, request });
    const own = bridge.offers.flatMap((offer) => {
      const name = bridge.nameOf(offer);
      return offer.run ? [{ ...offer.run.tool, spec: { ...offer.run.tool.spec, name } }] : [];
    });
    const gate = createGate(await toGateParts(root, own));
    const asked = parseAsked({ tools, input: "Hello" }, { store: true });
    const settings = { echo: toEcho(asked, { instructions: null, model: task.model }), include };
    try {
      return await runLoop({
        context,
        task,
        gate,
        clock: systemClock,
        contextTokens: undefined,
        reasoning: { effort: undefined, summary: undefined },
        provider: bridgeProvider(provider, bridge, () => Number.POSITIVE_INFINITY),
        checkOutput: async () => ({ ok: true, value: undefined }),
        costOf: () => 0,
        account: createAccount(NO_LIMITS),
        spentBelow: () => undefined,
        calls: createResponseCalls(bridge),
        wishes: {
          tools,
          before: [],
          parallel_tool_calls: undefined,
          top_p: undefined,
          response: encodeResponseSettings({ ...settings, ignored: bridge.ignored }),
        },
      });
    } finally {
      await gate.close();
      await bridge.close();
    }
  });
  const id = makeId("run");
  const task = toTask(root, items, toolChoice);
  await engine.submit("response", encodeTask(task), { id, title: "test" });
  const writer = createEventWriter();
  const whole = createEventWriter({ everything: true });
  const events: EmittedEvent[] = [];
  for await (const batch of engine.follow(id, -1, patience())) {
    for (const { event } of batch) {
      events.push(...writer.write(event));
      whole.write(event);
    }
  }
  await engine.stop();
  checkAll(events);
  const response = writer.response();
  assert.ok(response);
  const output = (whole.response()?.output ?? []) as unknown as Item[];
  const run = { events, response, requests: provider.requests, items: [...items, ...output] };
  const { readFile } = await import("node:fs/promises");
  const seen = { ...run, read: (path: string) => readFile(`${root}/${path}`, "utf8") };
  await look?.(seen);
  return seen;
}

function toTask(root: string, items: readonly Item[], tool_choice: ToolChoice): AgentTask {
  return {
    ...SAFEGUARDS,
    model: "scripted/model",
    model_reason: "test",
    provider: null,
    url: null,
    api_key_name: null,
    instructions: null,
    items,
    tools: [],
    tool_choice,
    max_turns: 10,
    temperature: null,
    max_output_tokens: null,
    think: false,
    format: { type: "text" },
    root,
    approve: "auto",
    on_throw: "tell_model",
  };
}

function checkAll(events: readonly EmittedEvent[]): void {
  for (const event of events) {
    const sent = JSON.parse(JSON.stringify(event)) as { response?: Record<string, unknown> };
    // Null while it runs, and where no user was named: as the service itself does.
    for (const name of ["user", "usage"]) {
      if (sent.response?.[name] === null) delete sent.response[name];
    }
    checkPublished("ResponseStreamEvent", sent);
  }
}

/** The kinds of events between the response's beginning and end. */
export function typesOf({ events }: Pick<KindRun, "events">): string[] {
  const types = events.map(({ type }) => type.replace(/^response\./, ""));
  return types.filter((type) => !/^(created|in_progress|completed)$/.test(type));
}

/** The calls of a request as the model read them. */
export function callsIn(request: ModelRequest | undefined): Item[] {
  const items = request?.items ?? [];
  return items.filter(({ type }) => /^function_call/.test(type)) as Item[];
}
