/**
 * Tests one cell of the matrix: a request goes through a whole server; what reached the model and what came
 * back show how the tested feature was treated.
 */

import assert from "node:assert/strict";
import { isJsonObject, type JsonObject } from "../../../src/base/json.ts";
import type { EmittedResponse } from "../../../src/protocol/emitted.ts";
import type { ModelRequest } from "../../../src/providers/provider.ts";
import type { Reply, Upstream } from "../../../src/testing/index.ts";
import type { SocketServer } from "../../server/socket/socket-fixture.ts";
import { checkError, checkResponse } from "../check.ts";
import type { Cell, Column } from "./cells.ts";

export interface Probe {
  /** The request; `input` is a greeting if it has none. */
  readonly body: JsonObject | ((world: World) => Promise<JsonObject>);
  /** The model to use, by the column, if the usual one does not have the feature. */
  readonly models?: Readonly<Partial<Record<Column, string>>>;
  /** The text that names it if it was left out. */
  readonly name: RegExp;
  /** The model's answer; a greeting by default. */
  readonly answer?: (request: ModelRequest) => Reply;
  /** Found in the model's request, if it was sent unchanged. */
  readonly sent?: RegExp;
  /** Found in the model's request, if it was sent in another form. */
  readonly bridged?: RegExp;
  /** True if the server did it itself, or how it was done if nothing is sent. */
  readonly shown?: (response: EmittedResponse, world: World) => Shown | Promise<Shown>;
  /** The result if nothing was seen of it; `unread` by default. */
  readonly otherwise?: Cell;
}

type Shown = boolean | Cell;

export interface World {
  readonly column: Column;
  readonly server: SocketServer;
  readonly upstream: Upstream | undefined;
  /** The address of the files of `MEDIA`. */
  readonly media: string;
  /** Sets the model's answer from now on; a greeting if it is missing. */
  script(answer?: (request: ModelRequest) => Reply): void;
}

/** `unread`: nothing of it was seen anywhere, which the table must say. */
export async function runProbe(probe: Probe, world: World): Promise<Cell> {
  const { server, upstream, column } = world;
  world.script();
  const model = probe.models?.[column];
  const body = typeof probe.body === "function" ? await probe.body(world) : probe.body;
  const given = model === undefined ? body : { ...body, model };
  world.script(probe.answer);
  const before = upstream?.requests.length ?? 0;
  const answered = await server.ask("POST", "/v1/responses", { input: "Hello", ...given });
  if (answered.status >= 400)
    return refusalOf(answered, (upstream?.requests.length ?? 0) === before);
  const response = await settle(world, answered.body as EmittedResponse);
  checkResponse(response);
  assert.notEqual(response.status, "failed", JSON.stringify(response.error));
  const ignored = response.offshoot?.ignored.join(", ") ?? "";
  if (probe.name.test(ignored)) return "reported";
  const asked = upstream?.requests.slice(before) ?? [];
  const text = asked.map((request) => request.text).join("\n");
  if (probe.sent?.test(text)) return "yes";
  if (probe.bridged?.test(text)) return "bridged";
  const shown = (await probe.shown?.(response, world)) ?? false;
  if (typeof shown === "string") return shown;
  return shown ? "yes" : (probe.otherwise ?? "unread");
}

/** A background response is waited for: its stream ends when it does. */
async function settle({ server }: World, response: EmittedResponse): Promise<EmittedResponse> {
  if (!response.background) return response;
  await server.ask("GET", `/v1/responses/${response.id}?stream=true`);
  return (await server.ask("GET", `/v1/responses/${response.id}`)).body as EmittedResponse;
}

/** A refusal names its subject, and comes before anything is sent. */
function refusalOf(answered: { status: number; body: unknown }, isUnsent: boolean): Cell {
  const text = JSON.stringify(answered.body);
  assert.equal(answered.status, 400, text);
  checkError(answered, { status: 400 });
  const { error } = answered.body as { error: JsonObject };
  assert.ok(isJsonObject(error) && error["param"] !== null, `it names nothing: ${text}`);
  assert.ok(isUnsent, `it was sent before it was refused: ${text}`);
  return "refused";
}
