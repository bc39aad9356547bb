/** `offshoot/openai-agents`: models of the OpenAI Agents SDK that are runs on an Offshoot server. */

import type { JsonObject } from "../../base/json.ts";
import {
  type AskedServer,
  type AskedServerOptions,
  createAskServer,
  recordOf,
  textOf,
} from "../ask-server.ts";
import type { AgentsEvent, OffshootAgentsModel } from "./model-types.ts";
import { toOutput, toUsage } from "./to-output.ts";
import { toRequest } from "./to-request.ts";

export type { AskedServer, AskedServerOptions } from "../ask-server.ts";
export type { OffshootAgentsModel } from "./model-types.ts";

/** The provider for `new Runner({ modelProvider })`. */
export interface OffshootModelProvider {
  /** `model` is the server's name for it; if missing, the server's default model. */
  getModel(model?: string): OffshootAgentsModel;
}

export function createAgentsProvider(
  server: AskedServer,
  options: AskedServerOptions = {},
): OffshootModelProvider {
  return { getModel: (model) => createAgentsModel(server, model, options) };
}

export interface AgentsModelOptions extends AskedServerOptions {
  /** Added to each request of the model. */
  readonly fields?: JsonObject | undefined;
}

/** Creates one model, for `new Agent({ model })`. */
export function createAgentsModel(
  server: AskedServer,
  model?: string | undefined,
  { fields = {}, ...options }: AgentsModelOptions = {},
): OffshootAgentsModel {
  const ask = createAskServer(server, options);
  return {
    async getResponse(request) {
      const body = toRequest(model, request, fields);
      const response = requireEnded(await ask.whole({ body, signal: request.signal }));
      return {
        usage: toUsage(response),
        output: toOutput(response),
        responseId: textOf(response["id"]),
        providerData: response,
      };
    },
    async *getStreamedResponse(request) {
      const body = toRequest(model, request, fields);
      for await (const event of await ask.streamed({ body, signal: request.signal })) {
        yield* toEvents(event);
        yield { type: "model", event };
      }
    },
  };
}

function toEvents(event: JsonObject): AgentsEvent[] {
  const { type, delta, item_id, message } = event;
  switch (type) {
    case "response.created":
      return [{ type: "response_started", providerData: event }];
    case "response.output_text.delta":
      return [{ type: "output_text_delta", delta: textOf(delta), itemId: textOf(item_id) }];
    case "response.completed":
    case "response.incomplete":
    case "response.failed":
    case "response.cancelled":
      return [toDone(requireEnded(recordOf(event["response"])))];
    case "error":
      throw new Error(textOf(message));
    default:
      return [];
  }
}

function toDone(response: JsonObject): AgentsEvent {
  const { output: _, usage: __, id, ...providerData } = response;
  return {
    type: "response_done",
    response: {
      id: textOf(id),
      output: toOutput(response),
      usage: toUsage(response),
      providerData,
    },
  };
}

/** Throws for a response without an answer, which the framework would take for one. */
function requireEnded(response: JsonObject): JsonObject {
  const { status, error, incomplete_details } = response;
  if (status === "completed") return response;
  const reason = textOf(recordOf(incomplete_details)["reason"]);
  const message = textOf(recordOf(error)["message"]);
  throw new Error(message || `The response ended as ${textOf(status)}${reason && `: ${reason}`}.`);
}
