/** Routes that read the record: lists, one run, its tree, its log, a live stream, costs, tools. */

import { Failure } from "../../base/failure.ts";
import { clip } from "../../base/text.ts";
import { EVENT_CHARS } from "../../runtime/record/event-view.ts";
import type { FollowWish } from "../../runtime/record/follow-run.ts";
import type { EventsWish } from "../../runtime/record/log-pages.ts";
import type { RecordApi } from "../../runtime/record/record-api.ts";
import { parseLimit, parseNumber } from "../../runtime/record/run-query.ts";
import { USAGE_KEYS, type UsageKey } from "../../store/run-index.ts";
import { streamLive } from "../live-call.ts";
import type { EventsAnswer, JsonAnswer, Route, RouteCall } from "../route.ts";
import { idOf, PRIVATE_HEADERS, viewerOf } from "./viewer.ts";

const ONE = "/v1/runs/:id";
const MAX_EVENTS = 1000;
const USUAL_EVENTS = 200;
const FEWEST_CHARS = 256;

export function createRunRoutes(record: RecordApi): Route[] {
  return [...toListRoutes(record), ...toLogRoutes(record), ...toSumRoutes(record)];
}

function toListRoutes(record: RecordApi): Route[] {
  return [
    {
      method: "GET",
      path: "/v1/runs",
      scope: "runs",
      summary: "List runs, the newest first",
      handle: async (call) => toPrivate(await record.list(viewerOf(call), call.query)),
    },
    {
      method: "GET",
      path: ONE,
      scope: "runs",
      summary: "One run: its task, its ending, and the cost of it and all below it",
      handle: async (call) => toPrivate(await record.get(viewerOf(call), idOf(call))),
    },
    {
      method: "GET",
      path: `${ONE}/tree`,
      scope: "runs",
      summary: "The run and all below it as rows without bodies, in pieces",
      handle: async (call) =>
        toPrivate(await record.tree(viewerOf(call), idOf(call), call.query.get("after") || null)),
    },
    {
      method: "GET",
      path: `${ONE}/compare`,
      scope: "runs",
      summary: "Compare the run with another one, `with`: turns and calls side by side",
      handle: async (call) =>
        toPrivate(await record.compare(viewerOf(call), idOf(call), requireQuery(call, "with"))),
    },
  ];
}

function toLogRoutes(record: RecordApi): Route[] {
  return [
    {
      method: "GET",
      path: `${ONE}/events`,
      scope: "runs",
      summary: "The log of the run; deltas are joined, long texts are shortened",
      async handle(call) {
        const limit = parseLimit(call.query, MAX_EVENTS, USUAL_EVENTS);
        const wish = { ...toWish(call), limit };
        return toPrivate(await record.events(viewerOf(call), idOf(call), wish));
      },
    },
    {
      method: "GET",
      path: `${ONE}/events/:seq`,
      scope: "runs",
      summary: "A piece of a long text of one event: `path` in it, `from` a character on",
      async handle(call) {
        const seq = Number(call.params["seq"]);
        if (!Number.isSafeInteger(seq) || seq < 0) {
          throw new Failure("invalid_request", "The number of the event is not a whole number.");
        }
        const place = {
          seq,
          path: call.query.get("path") ?? "",
          from: parseNumber(call.query, "from", 0),
        };
        return toPrivate(await record.text(viewerOf(call), idOf(call), place));
      },
    },
    {
      method: "GET",
      path: `${ONE}/follow`,
      scope: "runs",
      summary: "Follow the run, or with `tree` all below it too, as server-sent events",
      handle: (call) => follow(record, call),
    },
  ];
}

function toSumRoutes(record: RecordApi): Route[] {
  return [
    {
      method: "GET",
      path: "/v1/usage",
      scope: "runs",
      summary: "What models used, by day and by model, agent, key or tenant",
      async handle(call) {
        const daily = call.query.get("daily") !== "false";
        const by = parseKey(call.query.get("by") || "model");
        return toPrivate(await record.usage(viewerOf(call), call.query, by, daily));
      },
    },
    {
      method: "GET",
      path: "/v1/usage/tools",
      scope: "runs",
      summary: "Tool calls: how many, how many failed or were denied, how long they took",
      handle: async (call) => toPrivate(await record.tools(viewerOf(call), call.query)),
    },
  ];
}

export function toPrivate(body: object): JsonAnswer {
  return { kind: "json", body, headers: PRIVATE_HEADERS };
}

async function follow(record: RecordApi, call: RouteCall): Promise<EventsAnswer> {
  const { query } = call;
  const below = query.get("tree");
  const tree: FollowWish["tree"] = below === "live" ? "live" : below === "true";
  const wish = { ...toWish(call), tree, fromNow: query.get("after") === "now" };
  return await streamLive(call, (signal) =>
    record.follow(viewerOf(call), idOf(call), wish, signal),
  );
}

/** `after=now` follows from the present on; for a page it counts as left out. */
function toWish({ query }: RouteCall): Omit<EventsWish, "limit"> {
  const types = query.get("types")?.split(",").filter(Boolean);
  const after = query.get("after") === "now" ? -1 : parseNumber(query, "after", -1);
  const asked = parseNumber(query, "max_chars", EVENT_CHARS);
  const maxChars = Math.min(EVENT_CHARS, Math.max(FEWEST_CHARS, asked));
  return { after, types: types && types.length > 0 ? types : undefined, maxChars };
}

export function parseKey(by: string): UsageKey {
  const key = USAGE_KEYS.find((known) => known === by);
  if (key) return key;
  const message = `Usage cannot be grouped by \`${clip(by, 40)}\`. Use one of: ${USAGE_KEYS.join(", ")}.`;
  throw new Failure("invalid_request", message, { param: "by" });
}

function requireQuery({ query }: RouteCall, name: string): string {
  const value = query.get(name);
  if (value) return value;
  throw new Failure("invalid_request", `\`${name}\` is missing.`, { param: name });
}
