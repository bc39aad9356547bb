/**
 * A request to the server as text to paste: for a shell, TypeScript and Python. It names the variable of the key and
 * never contains the key.
 */

import { API } from "./session.ts";

export interface CopiedRequest {
  readonly method: "GET" | "POST";
  /** The path after `/v1/`. */
  readonly path: string;
  readonly body?: object | undefined;
}

export const LANGUAGES = ["curl", "TypeScript", "Python"] as const;
export type Language = (typeof LANGUAGES)[number];

export function toCode(request: CopiedRequest, language: Language): string {
  switch (language) {
    case "curl":
      return toCurl(request);
    case "TypeScript":
      return toTypeScript(request);
    case "Python":
      return toPython(request);
  }
}

function urlOf({ path }: CopiedRequest): string {
  return location.origin + API + path;
}

function toCurl(request: CopiedRequest): string {
  const { body } = request;
  const lines = [`curl ${quoteShell(urlOf(request))}`, `-H "authorization: Bearer $OFFSHOOT_KEY"`];
  if (request.method === "POST" && !body) lines.push("-X POST");
  if (body) {
    lines.push(`-H "content-type: application/json"`);
    lines.push(`-d ${quoteShell(JSON.stringify(body, null, 2))}`);
  }
  return lines.join(" \\\n  ");
}

function quoteShell(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/** For a response, with the SDK that its users have; for other requests, a plain one. */
function toTypeScript(request: CopiedRequest): string {
  const { method, path, body } = request;
  const json = JSON.stringify(body ?? {}, null, 2);
  if (path === "responses") {
    return `import OpenAI from "openai";

const client = new OpenAI({ baseURL: ${JSON.stringify(location.origin + API.slice(0, -1))}, apiKey: process.env.OFFSHOOT_KEY });
const response = await client.responses.create(${json});
`;
  }
  const init = [
    `  method: ${JSON.stringify(method)},`,
    "  headers: {",
    '    authorization: "Bearer " + process.env.OFFSHOOT_KEY,',
    ...(body ? ['    "content-type": "application/json",'] : []),
    "  },",
    ...(body ? [`  body: JSON.stringify(${json.replaceAll("\n", "\n  ")}),`] : []),
  ];
  return `const response = await fetch(${JSON.stringify(urlOf(request))}, {
${init.join("\n")}
});
const answer = await response.json();
`;
}

function toPython(request: CopiedRequest): string {
  const { method, path, body } = request;
  const given = body ? toPythonValue(body, "    ") : undefined;
  if (path === "responses") {
    return `import os
from openai import OpenAI

client = OpenAI(base_url=${JSON.stringify(location.origin + API.slice(0, -1))}, api_key=os.environ["OFFSHOOT_KEY"])
response = client.responses.create(**${toPythonValue(body ?? {}, "")})
`;
  }
  return `import os
import requests

answer = requests.request(
    ${JSON.stringify(method)},
    ${JSON.stringify(urlOf(request))},
    headers={"authorization": "Bearer " + os.environ["OFFSHOOT_KEY"]},
${given ? `    json=${given},\n` : ""}).json()
`;
}

function toPythonValue(value: unknown, indent: string): string {
  if (value === null || value === undefined) return "None";
  if (typeof value === "boolean") return value ? "True" : "False";
  if (typeof value !== "object") return JSON.stringify(value);
  const deeper = `${indent}    `;
  const rows = Array.isArray(value)
    ? value.map((one) => toPythonValue(one, deeper))
    : Object.entries(value)
        .filter(([, one]) => one !== undefined)
        .map(([key, one]) => `${JSON.stringify(key)}: ${toPythonValue(one, deeper)}`);
  const [open, close] = Array.isArray(value) ? "[]" : "{}";
  if (rows.length === 0) return `${open}${close}`;
  return `${open}\n${rows.map((row) => `${deeper}${row},\n`).join("")}${indent}${close}`;
}
