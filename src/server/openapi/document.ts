/** Makes the description of the API (OpenAPI 3.1) from the routes that a server has. */

import type { Json, JsonObject } from "../../base/json.ts";
import { VERSION } from "../../version.ts";
import type { Route } from "../route.ts";
import { OPERATIONS, type Operation, QUERIES } from "./operations.ts";
import { toSchemas } from "./schemas.ts";

type Described = Pick<Route, "method" | "path" | "summary" | "scope">;

const DESCRIPTION =
  "The Responses API in front of any model. `GET /v1/responses` with `Upgrade: websocket` opens a WebSocket. Fields that a schema does not name are taken, unless it says otherwise.";

/** `prefix` is the path that stands before all addresses. */
export function createDocument(routes: readonly Described[], prefix = ""): JsonObject {
  const paths: Record<string, Record<string, Json>> = {};
  for (const route of routes) {
    const path = route.path.replace(/:(\w+)/g, "{$1}");
    const known = paths[path] ?? {};
    paths[path] = { ...known, [route.method.toLowerCase()]: toOperation(route) };
  }
  return {
    openapi: "3.1.0",
    info: { title: "Offshoot", version: VERSION, description: DESCRIPTION },
    servers: [{ url: prefix === "" ? "/" : prefix }],
    paths,
    components: {
      schemas: toSchemas(),
      securitySchemes: { key: { type: "http", scheme: "bearer" } },
    },
  };
}

function toOperation({ method, path, summary, scope }: Described): JsonObject {
  const operation = OPERATIONS[`${method} ${path}`] ?? {};
  const body = toBody(operation);
  return {
    operationId: toId(method, path),
    summary,
    tags: [toTag(path)],
    security: scope === null ? [] : [{ key: [scope] }],
    parameters: toParameters(path, operation),
    ...(body ? { requestBody: body } : {}),
    responses: {
      "200": { description: "The answer", content: toContent(operation) },
      default: { description: "What is wrong", content: { [JSON_TYPE]: toSchema("Error") } },
    },
  };
}

const JSON_TYPE = "application/json";

function toSchema(name: string): JsonObject {
  return { schema: { $ref: `#/components/schemas/${name}` } };
}

function toBody({ takes, form, isOptional }: Operation): JsonObject | undefined {
  if (takes) return { required: !isOptional, content: { [JSON_TYPE]: toSchema(takes) } };
  if (!form) return undefined;
  const file = { type: "object", properties: { file: { type: "string", format: "binary" } } };
  const fields = { $ref: `#/components/schemas/${form}` };
  return {
    required: true,
    content: { "multipart/form-data": { schema: { allOf: [fields, file] } } },
  };
}

function toContent({ gives, streams }: Operation): JsonObject {
  const events = { schema: { type: "string", description: streams ?? "" } };
  if (!gives) return { "*/*": {} };
  return { [JSON_TYPE]: toSchema(gives), ...(streams ? { "text/event-stream": events } : {}) };
}

function toParameters(path: string, { query = [], headers = [] }: Operation): JsonObject[] {
  const schema = { type: "string" };
  const inPath = [...path.matchAll(/:(\w+)/g)].map(([, name = ""]): JsonObject => {
    return { name, in: "path", required: true, schema };
  });
  const inQuery = query.map((name): JsonObject => {
    return { name, in: "query", description: QUERIES[name], schema };
  });
  const inHeader = headers.map((name): JsonObject => {
    const description = "Sent again, the same request gets the same answer for 24 hours";
    return { name, in: "header", description, schema: { type: "string", maxLength: 255 } };
  });
  return [...inPath, ...inQuery, ...inHeader];
}

/** For example `post_responses_id_cancel`: unique, as the addresses are. */
function toId(method: string, path: string): string {
  const words = path.replace(/^\/v1/, "").replace(/[/:.]+/g, "_");
  return `${method.toLowerCase()}${words}`;
}

function toTag(path: string): string {
  return path.split("/")[path.startsWith("/v1/") ? 2 : 1]?.replace(".json", "") ?? "";
}
