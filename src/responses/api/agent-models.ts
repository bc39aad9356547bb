/**
 * Agents of this server as models: a client that writes `agent/NAME` where a model's name stands is answered by the
 * agent of that name. Its file says with which model and tools of the server, and for how much; the conversation and
 * the functions are the client's. So every client that can choose a model can choose an agent.
 */

import { toOutputFormat } from "../../agent/output-mode.ts";
import { Failure } from "../../base/failure.ts";
import { asJson, isJsonObject, type Json, type JsonObject } from "../../base/json.ts";
import { clip } from "../../base/text.ts";
import type { AgentDefinition } from "../../delegation/agents/definition.ts";
import type { Repeated, ResponsePreset } from "../request/asked-response.ts";
import { checkAllowed } from "../request/check-model.ts";
import type { Caller } from "../tenant/caller.ts";
import type { ResponsesApi } from "./api.ts";
import { isOfferedAs, toAgentCaller, toAgentPreset, toServers } from "./served-agent.ts";

const PREFIX = "agent/";

/** A request to an agent, as one to its model. */
export interface AskedAgent {
  readonly body: JsonObject;
  readonly caller: Caller;
  readonly preset: ResponsePreset;
}

export interface AgentModels {
  /** As clients name them. */
  readonly names: readonly string[];
  /** Undefined for a request that names no agent. Rejects one that its key or the agent does not allow. */
  read(body: unknown, caller: Caller): AskedAgent | undefined;
  /** The name of the model that answers for a name; null for the usual one. */
  modelOf(name: string | null | undefined): string | null | undefined;
}

/** Offers those agents as models whose files say `expose: model`. */
export function createAgentModels(all: readonly AgentDefinition[]): AgentModels {
  const agents = new Map(
    all
      .filter((agent) => isOfferedAs("model", agent))
      .map((agent): [string, AgentDefinition] => [PREFIX + agent.name, agent]),
  );
  return {
    names: [...agents.keys()],
    read(body, caller) {
      // Nearly all requests name a model, and this is all that they pay.
      if (!isJsonObject(body) || typeof body["model"] !== "string") return undefined;
      const agent = agents.get(body["model"]);
      return agent && toAsked(agent, body, caller);
    },
    modelOf(name) {
      const agent = agents.get(name ?? "");
      return agent ? (agent.model ?? null) : name;
    },
  };
}

/** A request that names an agent is one to the agent's model; any other stays as it is. */
export function withAgents(api: ResponsesApi, { read }: AgentModels): ResponsesApi {
  return {
    ...api,
    create(body, caller, once, preset) {
      const asked = preset ? undefined : read(body, caller);
      if (!asked) return api.create(body, caller, once, preset);
      return api.create(asked.body, asked.caller, once, asked.preset);
    },
  };
}

function toAsked(agent: AgentDefinition, body: JsonObject, caller: Caller): AskedAgent {
  const { model, tools, instructions, ...rest } = body;
  const name = String(model);
  // As with a name of `server.models`: the key is held to what its client writes.
  checkAllowed(name, caller);
  const narrowed = { ...toAgentCaller(caller, agent), models: undefined };
  const functions = readFunctions(name, tools);
  const text = withFormat(agent, rest["text"]);
  return {
    caller: narrowed,
    body: {
      ...rest,
      ...(agent.model === undefined ? {} : { model: agent.model }),
      ...(text === undefined ? {} : { text }),
      instructions: joinInstructions(agent, instructions),
      tools: [...toServers(narrowed.catalogue), ...functions],
    },
    preset: { ...toAgentPreset(agent), repeats: toRepeats(body, functions) },
  };
}

/** The client must not read the agent's file. Used only for requests that passed their checks. */
function toRepeats({ model, instructions = null }: JsonObject, tools: readonly Json[]): Repeated {
  return { model, instructions, tools } as unknown as Repeated;
}

/** The agent's own instructions come first. A value that is not text is refused with the rest of the request. */
function joinInstructions(agent: AgentDefinition, asked: Json | undefined): Json {
  if (asked === undefined || asked === null || asked === "") return agent.instructions;
  return typeof asked === "string" ? `${agent.instructions}\n\n${asked}` : asked;
}

/** Who may ask an agent may not hand it tools of the server: those are for its file to name. */
function readFunctions(name: string, tools: Json | undefined): readonly Json[] {
  if (tools === undefined || tools === null) return [];
  if (!Array.isArray(tools)) return [tools];
  const other = tools.find((tool) => !isJsonObject(tool) || !FUNCTIONS.has(String(tool["type"])));
  if (other === undefined) return tools;
  const kind = isJsonObject(other) ? String(other["type"]) : "";
  const message = `\`${clip(name, 80)}\` has the tools of its file: a request can add functions to them, and not \`${clip(kind, 40)}\`.`;
  throw new Failure("invalid_request", message, { param: "tools" });
}

const FUNCTIONS: ReadonlySet<string> = new Set(["function", "custom"]);

/** A form that the request asks for counts, then that of the file. */
function withFormat(agent: AgentDefinition, text: Json | undefined): Json | undefined {
  const { outputMode: output_mode, outputSchema: output_schema } = agent;
  const isAsked = isJsonObject(text) && text["format"] !== undefined && text["format"] !== null;
  if (isAsked || (output_mode ?? output_schema) === undefined) return text;
  const format = asJson(toOutputFormat({ output_mode, output_schema }));
  return { ...(isJsonObject(text) ? text : {}), format };
}
