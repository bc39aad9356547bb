/**
 * The desk of a server: agents that its operator exposes, run as background responses in the name of a key. So they
 * have the key's tenant, budget and places, wait in the common queue, and any process of the server can continue
 * them.
 */

import { toOutputFormat } from "../../agent/output-mode.ts";
import { isTask, parseTask } from "../../agent/task.ts";
import { Failure } from "../../base/failure.ts";
import { asJson, type JsonObject } from "../../base/json.ts";
import { clip } from "../../base/text.ts";
import type { AgentDefinition } from "../../delegation/agents/definition.ts";
import { followTree } from "../../delegation/ledger/follow-tree.ts";
import type { OpenedResponses } from "../../responses/api/open-responses.ts";
import { toAgentCaller, toAgentPreset, toServers } from "../../responses/api/served-agent.ts";
import { toResponseId, toRunId } from "../../responses/fold/response-object.ts";
import { findKept, RESPONSE_BODY } from "../../responses/kept/kept-response.ts";
import type { ResponsePreset } from "../../responses/request/asked-response.ts";
import type { Caller } from "../../responses/tenant/caller.ts";
import { findMadeBy, type Once } from "../../responses/tenant/idempotency.ts";
import type { RecordApi } from "../../runtime/record/record-api.ts";
import { toRun } from "../../runtime/run-handle.ts";
import type { Scope } from "../route.ts";
import type { Desk, DeskCall, DeskPrompts, DeskRun } from "./desk.ts";
import { toRunLines, toRunMarkdown } from "./run-texts.ts";

export interface TenantDeskParts {
  readonly responses: Pick<OpenedResponses, "api" | "durable" | "shelf">;
  readonly record: Pick<RecordApi, "list">;
  readonly agents: readonly AgentDefinition[];
  readonly prompts: DeskPrompts;
}

export interface DeskCaller {
  readonly caller: Caller;
  readonly scopes: readonly Scope[];
  /** How long questions of its runs wait for an answer; undefined if they are denied at once. */
  readonly approvalWaitMs: number | undefined;
}

export interface TenantDesk extends Desk {
  /** Ends the run that the call with this name began; does nothing if it began none. */
  cancelCall(name: string): Promise<void>;
}

export function createTenantDesk(parts: TenantDeskParts, whose: DeskCaller): TenantDesk {
  const { responses, record, agents, prompts } = parts;
  const { durable, shelf } = responses;
  const { caller } = whose;
  const findOwn = async (id: string): Promise<string> => {
    const run = id.startsWith("resp_") ? toRunId(id) : id;
    if (await findKept(shelf, caller.tenant, toResponseId(run))) return run;
    throw new Failure("not_found", `There is no run \`${clip(id, 64)}\`.`);
  };
  const readOwn = async (id: string): Promise<string> => {
    requireScope(whose, "runs");
    return await findOwn(id);
  };
  const begin = async (beginning: Beginning): Promise<DeskRun> =>
    toDeskRun(responses, await beginRun(parts, whose, beginning));
  return {
    agents,
    prompts,
    start: (name, prompt, call) => begin({ agent: findAgent(agents, name), prompt, call }),
    async continueRun(id, message, call) {
      const run = await findOwn(id);
      const agent = findAgent(agents, await agentOf(responses, run));
      if ((await durable.status(run))?.status === "running") {
        await responses.api.steer(toResponseId(run), caller, { text: message });
        return toDeskRun(responses, run);
      }
      return await begin({ agent, prompt: message, call, previous: toResponseId(run) });
    },
    find: async (id) => toDeskRun(responses, await findOwn(id)),
    async list(limit) {
      requireScope(whose, "runs");
      const query = new URLSearchParams({ limit: String(limit), kind: RESPONSE_BODY });
      const { data } = await record.list({ tenant: caller.tenant }, query);
      return data.map(({ id, title, status }) => ({ id, title, status }));
    },
    toMarkdown: async (id) => await toRunMarkdown(durable.record, await readOwn(id)),
    toLines: async (id) => await toRunLines(durable.record, await readOwn(id)),
    async cancelCall(name) {
      const made = await findMadeBy(shelf, caller.tenant, name);
      if (made !== undefined) await toRun(durable, toRunId(made)).cancel();
    },
    async close() {},
  };
}

interface Beginning {
  readonly agent: AgentDefinition;
  readonly prompt: string;
  readonly call: DeskCall;
  /** The response that the run continues. */
  readonly previous?: string | undefined;
}

async function beginRun(
  { responses: { api } }: TenantDeskParts,
  { caller, approvalWaitMs }: DeskCaller,
  { agent, call, ...asked }: Beginning,
): Promise<string> {
  const narrowed = toAgentCaller(caller, agent);
  const body = toAgentRequest(agent, narrowed, asked);
  const once: Once | undefined =
    call.name === undefined ? undefined : { key: call.name, route: "POST /mcp", body };
  const preset: ResponsePreset = {
    ...toAgentPreset(agent),
    mcp_depth: call.depth + 1,
    ...(approvalWaitMs === undefined ? {} : { approval_wait_ms: approvalWaitMs }),
  };
  const { id } = await api.create(body, narrowed, once, preset);
  return toRunId(id);
}

function toDeskRun({ durable }: TenantDeskParts["responses"], id: string): DeskRun {
  return {
    ...toRun(durable, id),
    follow: (signal) => followTree(durable, id, { signal }),
    hasEnded: async () => (await durable.status(id))?.status !== "running",
  };
}

/** Rejects a run that is not of an agent of this server: its tools are not known. */
async function agentOf({ durable }: TenantDeskParts["responses"], id: string): Promise<string> {
  const input = await durable.input(id);
  const agent = input !== undefined && isTask(input) ? parseTask(input).agent : undefined;
  if (agent) return agent;
  const message = `The run \`${clip(id, 64)}\` was not started by an agent of this server, so it cannot be continued here.`;
  throw new Failure("invalid_request", message);
}

function findAgent(agents: readonly AgentDefinition[], name: string): AgentDefinition {
  const agent = agents.find((one) => one.name === name);
  if (agent) return agent;
  throw new Failure("invalid_request", `The agent \`${clip(name, 64)}\` is not offered any more.`);
}

function requireScope({ scopes }: DeskCaller, scope: Scope): void {
  if (scopes.includes(scope)) return;
  throw new Failure("forbidden", `This key lacks the scope \`${scope}\`.`);
}

/**
 * A call of an agent as a request of the Responses API in the name of a key. Pure.
 *
 * `caller` is the narrowed one. The request runs in the background, so that it continues without its client, in any
 * process.
 */
function toAgentRequest(
  agent: AgentDefinition,
  { catalogue }: Caller,
  asked: { readonly prompt: string; readonly previous?: string | undefined },
): JsonObject {
  const { model, instructions, outputMode: output_mode, outputSchema: output_schema } = agent;
  const hasFormat = (output_mode ?? output_schema) !== undefined;
  const format = hasFormat ? toOutputFormat({ output_mode, output_schema }) : undefined;
  return {
    ...(model === undefined ? {} : { model }),
    ...(asked.previous === undefined ? {} : { previous_response_id: asked.previous }),
    ...(format === undefined ? {} : { text: { format: asJson(format) } }),
    instructions,
    input: asked.prompt,
    tools: toServers(catalogue),
    store: true,
    background: true,
  };
}
