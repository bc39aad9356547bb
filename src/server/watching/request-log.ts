/**
 * Writes a line for each request: who asked what, and how it ended. Never a body, a prompt or a key.
 */

import type { FailureCode } from "../../base/failure.ts";

export type LogFormat = "text" | "json" | "off";

/** The field names of the JSON lines. An unknown value is left out. */
export interface RequestRecord {
  /** When the request came, ISO 8601. */
  readonly time: string;
  readonly method: string;
  /**
   * `/v1/responses/:id`: the route and not the address, which may contain data that must not be logged.
   */
  readonly route: string;
  readonly status: number;
  /** The failure's code if the request was refused (docs/errors.md); never its message, which may quote the client. */
  readonly error?: FailureCode | undefined;
  readonly ms: number;
  readonly tenant?: string | undefined;
  readonly key_id?: string | undefined;
  /** The response, conversation or file that the request was about, or that it made. */
  readonly target?: string | undefined;
  readonly model?: string | undefined;
  /** The deployment that gave the last answer, if the requested name has several. */
  readonly deployment?: string | undefined;
  /** How often deployments were asked for that answer. */
  readonly tries?: number | undefined;
  readonly input_tokens?: number | undefined;
  readonly output_tokens?: number | undefined;
  readonly cost_usd?: number | undefined;
  /** True if the client had gone before the answer was complete. */
  readonly left?: true | undefined;
  /** An address without a route, without its query. For other addresses the route is enough. */
  readonly path?: string | undefined;
  /** The address from which the connection comes; with a proxy in front, the proxy's. */
  readonly client?: string | undefined;
  /** The answer's header `x-request-id`. */
  readonly request_id?: string | undefined;
  readonly trace_id?: string | undefined;
  readonly worker?: number | undefined;
}

export type WriteRecord = (record: RequestRecord) => void;

export function createRequestLog(format: LogFormat, write: (line: string) => unknown): WriteRecord {
  if (format === "off") return () => {};
  const render = format === "json" ? renderJson : renderText;
  return (record) => void write(`${render(record)}\n`);
}

/** A run that another process had begun, and that this server continues. */
interface TakeoverRecord {
  readonly time: string;
  /** Id of the run. */
  readonly takeover: string;
}

export function createTakeoverLog(
  format: LogFormat,
  write: (line: string) => unknown,
): (record: TakeoverRecord) => void {
  if (format === "off") return () => {};
  return (record) => {
    const { time, takeover } = record;
    const text = `${time.slice(11, 19)} continues ${takeover}, whose process ended`;
    void write(`${format === "json" ? JSON.stringify(record) : text}\n`);
  };
}

/** A deployment that is not asked first for a while. */
interface CooldownRecord {
  readonly time: string;
  readonly cooldown: string;
  readonly seconds: number;
  readonly reason: string;
  readonly worker?: number | undefined;
}

export function createCooldownLog(
  format: LogFormat,
  write: (line: string) => unknown,
): (record: CooldownRecord) => void {
  if (format === "off") return () => {};
  return (record) => {
    const { time, cooldown, seconds, reason } = record;
    const text = `${time.slice(11, 19)} ${cooldown} is not asked for ${seconds} s: ${reason}`;
    // The reason is text from the deployment.
    const line = format === "json" ? JSON.stringify(record) : text.replace(/\p{Cc}+/gu, " ");
    void write(`${line}\n`);
  };
}

function renderJson(record: RequestRecord): string {
  return JSON.stringify(record);
}

/** `12:00:01 POST /v1/responses 200 312 ms resp_01k… openai/gpt-5.1 120+45`. */
function renderText(record: RequestRecord): string {
  const { time, method, route, status, ms, tenant, target, tries = 1 } = record;
  const model = record.deployment ?? record.model;
  const tokens =
    record.input_tokens === undefined ? "" : `${record.input_tokens}+${record.output_tokens ?? 0}`;
  const words = [
    time.slice(11, 19),
    ...[method, record.path ?? route, status, record.error ?? "", `${Math.round(ms)} ms`],
    ...[tenant === undefined || tenant === "default" ? "" : tenant, target ?? "", model ?? ""],
    ...[tries > 1 ? `${tries} tries` : "", tokens, record.left ? "client left" : ""],
  ];
  const line = words.filter((word) => word !== "").join(" ");
  // Ids come from clients: they must not move the cursor or add a line.
  return line.replace(/\p{Cc}+/gu, " ");
}
