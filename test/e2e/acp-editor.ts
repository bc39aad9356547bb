/**
 * An editor made of the protocol's own SDK that runs `offshoot acp`, with buffers, permissions and
 * capabilities. When the editor is closed, everything that the agent sent is checked against the published
 * schema.
 */

import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { Readable, Writable } from "node:stream";
import { fileURLToPath } from "node:url";
import {
  type AnyMessage,
  type ClientCapabilities,
  type ClientContext,
  client,
  type McpServer,
  methods,
  type NewSessionResponse,
  ndJsonStream,
  PROTOCOL_VERSION,
  type PromptResponse,
  RequestError,
  type RequestPermissionRequest,
  type SessionUpdate,
} from "@agentclientprotocol/sdk";
import { Ajv2020 } from "ajv/dist/2020.js";
import type { Fault, Script, Upstream } from "../../src/testing/index.ts";
import { CLI, createPlace, type Place } from "./command.ts";
import { CHAT } from "./wires.ts";

export interface Editor extends AsyncDisposable {
  readonly agent: ClientContext;
  readonly child: ChildProcess;
  readonly updates: SessionUpdate[];
  /** Everything that the agent sent, unchanged. */
  readonly sent: AnyMessage[];
  readonly permissions: RequestPermissionRequest[];
  /** Its open files, by absolute path, saved or not. */
  readonly buffers: Map<string, string>;
  /** What the agent wrote into it, in order. */
  readonly written: string[];
}

export type Answer = "once" | "always" | "no" | "cancelled";

export interface Opening {
  readonly place: Place;
  readonly upstream: Upstream;
  readonly answer?: Answer | ((asked: RequestPermissionRequest) => Answer | Promise<Answer>);
  readonly capabilities?: ClientCapabilities;
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

export async function openEditor(opening: Opening): Promise<Editor> {
  const { capabilities = {} } = opening;
  const child = start(opening);
  const seen = createSeen();
  const stream = ndJsonStream(
    Writable.toWeb(child.stdin as Writable) as WritableStream<Uint8Array>,
    Readable.toWeb(child.stdout as Readable) as ReadableStream<Uint8Array>,
  );
  const app = client({ name: "test" });
  const editor = { updates: [], permissions: [], buffers: new Map(), written: [] };
  answerAgent(app, opening, editor);
  const connection = app.connect(seen.watch(stream));
  await connection.agent.request(methods.agent.initialize, {
    protocolVersion: PROTOCOL_VERSION,
    clientCapabilities: capabilities,
  });
  return {
    agent: connection.agent,
    child,
    sent: seen.sent,
    ...editor,
    async [Symbol.asyncDispose]() {
      connection.close();
      await end(child);
      seen.check();
    },
  };
}

function start({ place, upstream, args = [], env = {} }: Opening): ChildProcess {
  return spawn(process.execPath, [CLI, "acp", ...args], {
    cwd: place.cwd,
    env: {
      PATH: process.env["PATH"],
      HOME: place.home,
      OFFSHOOT_PROBE_LOCAL: "false",
      OFFSHOOT_MODEL: "custom/test-model",
      OFFSHOOT_URL: upstream.url,
      ...env,
    },
    stdio: ["pipe", "pipe", "inherit"],
  });
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = new Promise((resolve) => child.once("exit", resolve));
  child.stdin?.end();
  child.kill();
  await gone;
}

type Watched = Pick<Editor, "updates" | "permissions" | "buffers" | "written">;

function answerAgent(
  app: ReturnType<typeof client>,
  { answer = "once" }: Opening,
  { updates, permissions, buffers, written }: Watched,
): void {
  app.onNotification(methods.client.session.update, ({ params }) => {
    updates.push(params.update);
  });
  app.onRequest(methods.client.session.requestPermission, async ({ params }) => {
    permissions.push(params);
    const optionId = typeof answer === "function" ? await answer(params) : answer;
    if (optionId === "cancelled") return { outcome: { outcome: "cancelled" } };
    return { outcome: { outcome: "selected", optionId } };
  });
  app.onRequest(methods.client.fs.readTextFile, ({ params: { path } }) => {
    const content = buffers.get(path);
    if (content === undefined) throw RequestError.resourceNotFound(path);
    return { content };
  });
  app.onRequest(methods.client.fs.writeTextFile, ({ params: { path, content } }) => {
    buffers.set(path, content);
    written.push(path);
    return {};
  });
}

interface Seen {
  readonly sent: AnyMessage[];
  watch(stream: ReturnType<typeof ndJsonStream>): ReturnType<typeof ndJsonStream>;
  /** Fails if a message does not fit the schema. */
  check(): void;
}

function createSeen(): Seen {
  const sent: AnyMessage[] = [];
  /** The request of each answer. */
  const asked = new Map<unknown, string>();
  const tap = (see: (message: AnyMessage) => void) =>
    new TransformStream<AnyMessage, AnyMessage>({
      transform(message, controller) {
        see(message);
        controller.enqueue(message);
      },
    });
  return {
    sent,
    watch({ readable, writable }) {
      const out = tap((message) => {
        if ("method" in message && "id" in message) asked.set(message.id, message.method);
      });
      void out.readable.pipeTo(writable).catch(() => {});
      return {
        readable: readable.pipeThrough(tap((one) => sent.push(one))),
        writable: out.writable,
      };
    },
    check() {
      for (const message of sent) checkMessage(message, asked);
    },
  };
}

const checks = new Map<string, (value: unknown) => string | undefined>();

/** The published schema, whose definitions name their methods. */
function loadChecks(): void {
  const folder = "../../../node_modules/@agentclientprotocol/sdk/schema/v1/";
  for (const file of ["schema.unstable.json", "schema.json"]) {
    const path = fileURLToPath(new URL(folder + file, import.meta.url));
    const schema = JSON.parse(readFileSync(path, "utf8"));
    const ajv = new Ajv2020({ strict: false, validateFormats: false, logger: false });
    ajv.addSchema(schema, file);
    for (const [name, row] of Object.entries<Record<string, unknown>>(schema.$defs)) {
      const [kind] = /(Request|Response|Notification)$/.exec(name) ?? [];
      if (kind === undefined || row["x-method"] === undefined) continue;
      const isValid = ajv.getSchema(`${file}#/$defs/${name}`);
      assert.ok(isValid, name);
      checks.set(`${kind} ${row["x-method"]}`, (value) =>
        isValid(value) ? undefined : `${name}: ${ajv.errorsText(isValid.errors)}`,
      );
    }
  }
}

/** In no version of the schema, but some editors send it. */
const UNPUBLISHED: ReadonlySet<string> = new Set(["session/set_model"]);

function checkMessage(message: AnyMessage, asked: ReadonlyMap<unknown, string>): void {
  if (checks.size === 0) loadChecks();
  const shown = JSON.stringify(message).slice(0, 2000);
  if ("method" in message) {
    if (message.method === "$/cancel_request") return;
    const kind = "id" in message ? "Request" : "Notification";
    const check = checks.get(`${kind} ${message.method}`) ?? assert.fail(`unknown: ${shown}`);
    assert.equal(check(message.params), undefined, shown);
    return;
  }
  if ("error" in message) {
    const { code, message: text } = message.error;
    assert.ok(Number.isInteger(code) && typeof text === "string", shown);
    return;
  }
  const method = asked.get(message.id) ?? assert.fail(`answers nothing: ${shown}`);
  if (UNPUBLISHED.has(method)) return;
  const check = checks.get(`Response ${method}`) ?? assert.fail(`unknown: ${method}`);
  assert.equal(check(message.result), undefined, shown);
}

export interface EditorSetup extends Partial<Omit<Opening, "upstream">> {
  readonly faults?: Fault;
  readonly files?: Readonly<Record<string, string>>;
}

export async function withEditor(
  engine: Script,
  use: (editor: Editor, opening: Opening) => Promise<void>,
  { faults, files = {}, place: given, ...more }: EditorSetup = {},
): Promise<void> {
  const place = given ?? (await createPlace(files));
  const upstream = await CHAT.start({ engine, ...(faults ? { faults } : {}) });
  const opening = { ...more, place, upstream };
  try {
    await using editor = await openEditor(opening);
    await use(editor, opening);
  } finally {
    await upstream.close();
    if (!given) await place[Symbol.asyncDispose]();
  }
}

export async function newSession(
  { agent }: Editor,
  { place }: Pick<Opening, "place">,
  mcpServers: McpServer[] = [],
): Promise<string> {
  const params = { cwd: place.cwd, mcpServers };
  const answer: NewSessionResponse = await agent.request(methods.agent.session.new, params);
  return answer.sessionId;
}

export async function ask({ agent }: Editor, sessionId: string, text: string): Promise<string> {
  const prompt = [{ type: "text" as const, text }];
  const asked = { sessionId, prompt };
  const answer: PromptResponse = await agent.request(methods.agent.session.prompt, asked);
  return answer.stopReason;
}

export function saidBy(updates: readonly SessionUpdate[], kind: string): string {
  return updates
    .map((one) =>
      one.sessionUpdate === kind && "content" in one && one.content && "text" in one.content
        ? one.content.text
        : "",
    )
    .join("");
}

export function updatesOf<Kind extends SessionUpdate["sessionUpdate"]>(
  { updates }: Pick<Editor, "updates">,
  kind: Kind,
): Extract<SessionUpdate, { sessionUpdate: Kind }>[] {
  return updates.filter(
    (one): one is Extract<SessionUpdate, { sessionUpdate: Kind }> => one.sessionUpdate === kind,
  );
}
