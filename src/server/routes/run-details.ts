/** Routes that show one run step by step, and all runs as they change. They only read. */

import { Failure } from "../../base/failure.ts";
import { clip } from "../../base/text.ts";
import type { RecordApi } from "../../runtime/record/record-api.ts";
import { EXPORTS, type ExportFormat } from "../../runtime/record/run-export.ts";
import { parseNumber } from "../../runtime/record/run-query.ts";
import { streamLive } from "../live-call.ts";
import type { BytesAnswer, Route, RouteCall } from "../route.ts";
import { parseKey, toPrivate } from "./runs.ts";
import { idOf, PRIVATE_HEADERS, viewerOf } from "./viewer.ts";

const ONE = "/v1/runs/:id";

export function createRunDetailRoutes(record: RecordApi): Route[] {
  return [...toStepRoutes(record), ...toRunRoutes(record), ...toWatchRoutes(record)];
}

function toStepRoutes(record: RecordApi): Route[] {
  return [
    {
      method: "GET",
      path: `${ONE}/steps/:seq`,
      scope: "runs",
      summary:
        "One step: a model call with its exact request and answer, or a tool call with who decided",
      async handle(call) {
        const path = call.query.get("path");
        const seq = seqOf(call);
        if (path === null) return toPrivate(await record.step(viewerOf(call), idOf(call), seq));
        const place = { seq, path, from: parseNumber(call.query, "from", 0) };
        return toPrivate(await record.stepText(viewerOf(call), idOf(call), place));
      },
    },
    {
      method: "GET",
      path: `${ONE}/changes`,
      scope: "runs",
      summary: "Changes to files by the run and all below it, with diffs",
      handle: async (call) =>
        toPrivate(await record.changes(viewerOf(call), idOf(call), call.query)),
    },
  ];
}

function toRunRoutes(record: RecordApi): Route[] {
  return [
    {
      method: "GET",
      path: `${ONE}/usage`,
      scope: "runs",
      summary: "Usage of the run and all below it, by model or agent",
      async handle(call) {
        const by = parseKey(call.query.get("by") || "model");
        return toPrivate(await record.usageOf(viewerOf(call), idOf(call), by));
      },
    },
    {
      method: "GET",
      path: `${ONE}/export`,
      scope: "runs",
      summary: "The run with all below it as a file: `md` for people, `jsonl` for programs",
      handle: (call) => exportRun(record, call),
    },
  ];
}

function toWatchRoutes(record: RecordApi): Route[] {
  return [
    {
      method: "GET",
      path: "/v1/usage/failures",
      scope: "runs",
      summary: "Tool calls that failed or were denied, the newest first, with the rule",
      handle: async (call) => toPrivate(await record.failures(viewerOf(call), call.query)),
    },
    {
      method: "GET",
      path: "/v1/watch",
      scope: "runs",
      summary: "Server-sent events: one when runs or open questions have changed",
      handle: (call) => streamLive(call, (signal) => record.watch(viewerOf(call), signal)),
    },
  ];
}

function seqOf({ params }: RouteCall): number {
  const seq = Number(params["seq"]);
  if (Number.isSafeInteger(seq) && seq >= 0) return seq;
  throw new Failure("invalid_request", "The number of the step is not a whole number.");
}

async function exportRun(record: RecordApi, call: RouteCall): Promise<BytesAnswer> {
  const format = parseFormat(call.query.get("format") || "md");
  const chunks = await record.export(viewerOf(call), idOf(call), format);
  const name = `${idOf(call).replaceAll("/", "_")}.${format}`;
  const attachment = `attachment; filename*=UTF-8''${encodeURIComponent(name)}`;
  const headers = { ...PRIVATE_HEADERS, "content-disposition": attachment };
  return { kind: "bytes", type: EXPORTS[format], chunks, headers };
}

function parseFormat(text: string): ExportFormat {
  if (text === "md" || text === "jsonl") return text;
  const known = Object.keys(EXPORTS).join(", ");
  const message = `Runs are not exported as \`${clip(text, 40)}\`. Use one of: ${known}.`;
  throw new Failure("invalid_request", message, { param: "format" });
}
