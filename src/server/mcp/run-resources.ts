/** Offers runs as resources: `run://ID` is Markdown, `run://ID/events` is the log. */

import { ErrorCode, McpError } from "@modelcontextprotocol/sdk/types.js";
import { toFailure } from "../../base/failure.ts";
import { clip } from "../../base/text.ts";
import type { Desk } from "./desk.ts";

const LISTED_RUNS = 50;
const RUN_URI = /^run:\/\/([^/]+)(\/events)?$/;
/** The protocol's own code for a resource that does not exist. */
const RESOURCE_NOT_FOUND = -32_002;

export const RUN_TEMPLATES = [
  {
    uriTemplate: "run://{run_id}",
    name: "run",
    description: "A run and all below it: prompts, answers and tool calls.",
    mimeType: "text/markdown",
  },
  {
    uriTemplate: "run://{run_id}/events",
    name: "run-events",
    description: "The log of a run and all below it, one JSON object for each line.",
    mimeType: "application/jsonl",
  },
];

interface ListedResource {
  uri: string;
  name: string;
  mimeType: string;
}

export async function listRuns(desk: Desk): Promise<{ resources: ListedResource[] }> {
  const runs = await inProtocol(() => desk.list(LISTED_RUNS));
  const resources = runs.map(({ id, title, status }) => ({
    uri: `run://${id}`,
    name: clip(`${title} (${status})`, 120),
    mimeType: "text/markdown",
  }));
  return { resources };
}

interface ReadResource {
  uri: string;
  mimeType: string;
  text: string;
}

export async function readRun(desk: Desk, uri: string): Promise<{ contents: ReadResource[] }> {
  const [, id, events] = RUN_URI.exec(uri) ?? [];
  if (id === undefined) {
    throw new McpError(
      RESOURCE_NOT_FOUND,
      `There is no resource \`${clip(uri, 120)}\`. Use run://RUN_ID.`,
    );
  }
  const text = await inProtocol(() => (events ? desk.toLines(id) : desk.toMarkdown(id)));
  return { contents: [{ uri, mimeType: events ? "application/jsonl" : "text/markdown", text }] };
}

/** Turns failures into errors of the protocol. */
export async function inProtocol<Out>(work: () => Promise<Out>): Promise<Out> {
  try {
    return await work();
  } catch (thrown) {
    const { code, message } = toFailure(thrown);
    if (code === "not_found") throw new McpError(RESOURCE_NOT_FOUND, message);
    if (code === "invalid_request") throw new McpError(ErrorCode.InvalidParams, message);
    throw new McpError(ErrorCode.InternalError, message);
  }
}
