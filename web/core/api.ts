/** All requests to the server. Every failure is an `ApiFailure` with a sentence for the person. */

import { API, askAgain, session } from "./session.ts";

export class ApiFailure extends Error {
  readonly status: number;
  readonly code: string;

  constructor(status: number, code: string, message: string) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

export type Query = Readonly<Record<string, string | number | boolean | undefined | null>>;

export async function get<Body>(
  path: string,
  query: Query = {},
  signal?: AbortSignal,
): Promise<Body> {
  return await ask<Body>("GET", path + toQuery(query), undefined, signal);
}

export async function post<Body>(path: string, body: object = {}): Promise<Body> {
  return await ask<Body>("POST", path, body);
}

export async function remove<Body>(path: string): Promise<Body> {
  return await ask<Body>("DELETE", path);
}

/** Uploads a file as a form, with its other fields. */
export async function upload<Body>(
  path: string,
  file: File,
  fields: Readonly<Record<string, string>> = {},
): Promise<Body> {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.set(name, value);
  form.set("file", file);
  const response = await send(path, { method: "POST", body: form });
  return (await response.json()) as Body;
}

/**
 * Fetched with the token and saved from memory: the browser would keep an address with a token in it.
 */
export async function download(path: string, name: string): Promise<void> {
  const bytes = await (await send(path)).blob();
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([bytes], { type: "application/octet-stream" }));
  link.download = name;
  link.click();
  URL.revokeObjectURL(link.href);
}

/** Sends a request and returns the answer unchanged, for streams and files; failures throw. */
export async function send(path: string, init: RequestInit = {}): Promise<Response> {
  const headers = new Headers(init.headers);
  const token = session.value?.token;
  if (token) headers.set("authorization", `Bearer ${token}`);
  const response = await fetch(API + path, { ...init, headers }).catch((cause: unknown) => {
    if (init.signal?.aborted) throw cause;
    throw new ApiFailure(
      0,
      "unreachable",
      "The server does not answer. The page continues when it is back.",
    );
  });
  if (!response.ok) throw await toFailure(response);
  return response;
}

async function ask<Body>(
  method: string,
  path: string,
  body?: object,
  signal?: AbortSignal,
): Promise<Body> {
  const response = await send(path, {
    method,
    ...(signal ? { signal } : {}),
    ...(body
      ? { body: JSON.stringify(body), headers: { "content-type": "application/json" } }
      : {}),
  });
  return (response.status === 204 ? undefined : await response.json()) as Body;
}

async function toFailure(response: Response): Promise<ApiFailure> {
  const body = (await response.json().catch(() => undefined)) as
    | { error?: { message?: string; code?: string } }
    | undefined;
  const message = body?.error?.message ?? `The server answered ${response.status}.`;
  // The page stays under the form, so typed text is not lost.
  if (response.status === 401) askAgain("Your session has ended. Sign in again to continue.");
  return new ApiFailure(response.status, body?.error?.code ?? "", message);
}

export function toQuery(query: Query): string {
  const given = Object.entries(query).filter(
    ([, value]) => value !== undefined && value !== null && value !== "",
  );
  if (given.length === 0) return "";
  return `?${new URLSearchParams(given.map(([name, value]) => [name, String(value)]))}`;
}

/** The address of a run in the API: ids of subagents contain slashes. */
export function runPath(id: string): string {
  return `runs/${encodeURIComponent(id)}`;
}

export function messageOf(failure: unknown): string {
  return failure instanceof Error ? failure.message : String(failure);
}
