/**
 * The requests of clients while machines die: stored responses plain and streamed, in the background, with
 * tool calls, in conversations, with subagents, and some that are cancelled. Each client remembers its
 * answers.
 */

import { setTimeout } from "node:timers/promises";
import type { EmittedEvent, EmittedResponse } from "../../../src/protocol/emitted.ts";
import { type ChaosClient, hasEnded, idOf, isOver } from "./chaos-client.ts";
import { MCP_LABEL } from "./chaos-model.ts";

/** A response whose id a client knows. */
export interface Told {
  readonly id: string;
  readonly label: string;
  readonly kind: Kind;
  /** Its events over all connections; undefined if it was not followed. */
  readonly heard?: readonly EmittedEvent[] | undefined;
  /** The response at its end, if the client got an ending. */
  readonly ended?: EmittedResponse | undefined;
}

export interface Load {
  readonly told: readonly Told[];
  /** Conversations, with the labels of the responses that were reported as completed, in order. */
  readonly conversations: ReadonlyMap<string, readonly string[]>;
  /** How many jobs have ended. */
  readonly done: number;
  /** Begins no more jobs. Resolves when every client has got the end of its responses. */
  end(): Promise<void>;
}

interface LoadParts {
  readonly client: ChaosClient;
  readonly chance: () => number;
  readonly mcpUrl: string;
  readonly faults: string[];
}

export type Kind = keyof typeof KINDS;

/** The parts of a job. */
interface Job extends LoadParts {
  readonly kind: Kind;
  readonly label: string;
  tell(told: Omit<Told, "kind">): void;
  conversations: Map<string, string[]>;
}

const KINDS = { plain, stream, back, tools, conv, cancel, tree };

/** How many clients work at once. */
const AT_ONCE = 16;

export function startLoad(parts: LoadParts): Load {
  const told: Told[] = [];
  const conversations = new Map<string, string[]>();
  const kinds = Object.keys(KINDS) as Kind[];
  let isOverNow = false;
  let begun = 0;
  let done = 0;
  const work = async (): Promise<void> => {
    while (!isOverNow) {
      const kind = kinds[begun % kinds.length] ?? "plain";
      const label = `${kind}-${begun++}`;
      const tell = (one: Omit<Told, "kind">): void => void told.push({ ...one, kind });
      await KINDS[kind]({ ...parts, kind, label, tell, conversations });
      done++;
    }
  };
  const clients = Array.from({ length: AT_ONCE }, work);
  return {
    told,
    conversations,
    get done() {
      return done;
    },
    async end() {
      isOverNow = true;
      await Promise.all(clients);
    },
  };
}

/** Every second request is repeated until it is answered: that makes one response. */
async function plain({ client, label, tell }: Job): Promise<void> {
  const [ask, key] = isEven(label) ? [client.askOn, label] : [client.ask, undefined];
  const answer = await ask("POST", "/v1/responses", { input: label }, key);
  if (answer?.status !== 200) return;
  const ended = answer.body as EmittedResponse;
  tell({ id: ended.id, label, ended });
}

function isEven(label: string): boolean {
  return Number(label.split("-")[1]) % 2 === 0;
}

async function stream(job: Job): Promise<void> {
  await listen(job, { input: job.label });
}

async function tools(job: Job): Promise<void> {
  const mcp = { type: "mcp", server_label: MCP_LABEL, server_url: job.mcpUrl };
  const allowed = [{ ...mcp, require_approval: "never" }];
  await listen(job, { input: job.label, background: true, tools: allowed });
}

const OWN = { type: "mcp", server_label: "offshoot", require_approval: "never" };

async function tree(job: Job): Promise<void> {
  await listen(job, { input: job.label, background: true, tools: [OWN] });
}

/** Follows it over any number of connections. */
async function listen({ client, label, tell }: Job, body: object): Promise<void> {
  const heard: EmittedEvent[] = [];
  await client.hear("/v1/responses", heard, { ...body, stream: true });
  const id = idOf(heard);
  if (id === undefined) return;
  while (!isOver(heard)) {
    const last = heard.at(-1)?.sequence_number ?? -1;
    await client.hear(`/v1/responses/${id}?stream=true&starting_after=${last}`, heard);
  }
  tell({ id, label, heard });
}

async function back({ client, label, tell }: Job): Promise<void> {
  const made = await client.ask("POST", "/v1/responses", { input: label, background: true });
  if (made?.status !== 200) return;
  const { id } = made.body as EmittedResponse;
  tell({ id, label, ended: await poll(client, id) });
}

async function poll(client: ChaosClient, id: string): Promise<EmittedResponse> {
  for (;;) {
    const { body } = await client.askOn("GET", `/v1/responses/${id}`);
    if (hasEnded(body as EmittedResponse)) return body as EmittedResponse;
    await setTimeout(POLL_MS);
  }
}

const POLL_MS = 100;
/** How long a response may work before it is cancelled. */
const CANCEL_MS = 600;

async function cancel({ client, label, chance, tell }: Job): Promise<void> {
  const made = await client.ask("POST", "/v1/responses", { input: label, background: true });
  if (made?.status !== 200) return;
  const { id } = made.body as EmittedResponse;
  await setTimeout(chance() * CANCEL_MS);
  const { status, body } = await client.askOn("POST", `/v1/responses/${id}/cancel`);
  const cancelled = status === 200 ? (body as EmittedResponse) : undefined;
  tell({ id, label, ended: cancelled ?? (await poll(client, id)) });
}

/** Three responses, one after the other. The conversation has those that were reported, in this order. */
async function conv({ client, label, tell, conversations, faults }: Job): Promise<void> {
  const { status, body } = await client.askOn("POST", "/v1/conversations", {}, label);
  if (status !== 200) return void faults.push(`${label}: ${status} ${JSON.stringify(body)}`);
  const { id: conversation } = body as { id: string };
  const labels: string[] = [];
  conversations.set(conversation, labels);
  for (let number = 0; number < 3; number++) {
    const input = `${label}.${number}`;
    const answer = await client.askOn("POST", "/v1/responses", { input, conversation }, input);
    const ended = answer.body as EmittedResponse;
    if (answer.status !== 200) {
      faults.push(`${input}: ${answer.status} ${JSON.stringify(answer.body)}`);
      return;
    }
    tell({ id: ended.id, label: input, ended });
    labels.push(input);
  }
}
