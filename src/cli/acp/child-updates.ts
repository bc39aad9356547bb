/**
 * Shows subagents to an editor. Version 1 of the protocol has no nesting: each subagent is one tool call whose id is
 * its run's, and whose content has a line for each of its own calls. A child's log may arrive after its parent has
 * reported its end, so the content is sent again with whichever end comes later.
 */

import type { SessionUpdate } from "@agentclientprotocol/sdk";
import { clip } from "../../base/text.ts";
import type { RunEvent } from "../../protocol/run-events.ts";
import { toTitle } from "./tool-views.ts";

/** The most lines shown of each subagent: the last ones. */
const MAX_LINES = 20;
const MAX_TEXT_CHARS = 4000;

interface Child {
  readonly lines: string[];
  /** The text of its last turn. */
  text: string;
  /** The reason why it did not complete, as its parent got it. */
  why: string;
}

export interface ChildUpdates {
  /** Undefined if there is nothing new to show. */
  read(run: string, event: RunEvent): SessionUpdate | undefined;
  /** Children that were started and have not ended. */
  readonly atWork: ReadonlySet<string>;
}

export function createChildUpdates(): ChildUpdates {
  const children = new Map<string, Child>();
  const atWork = new Set<string>();
  return {
    atWork,
    read(run, event) {
      if (event.type === "child_start") {
        children.set(event.child_id, { lines: [], text: "", why: "" });
        atWork.add(event.child_id);
        return toStart(event.child_id, event.label);
      }
      if (event.type === "child_end") {
        atWork.delete(event.child_id);
        const child = children.get(event.child_id);
        const isDone = event.ending === "completed";
        if (child && !isDone) child.why = `${event.ending}: ${event.message}`;
        const status = isDone ? "completed" : "failed";
        return { ...toContent(event.child_id, child, event.ending), status };
      }
      const child = children.get(run);
      return child && learn(run, child, event);
    },
  };
}

function toStart(toolCallId: string, label: string): SessionUpdate {
  return {
    sessionUpdate: "tool_call",
    toolCallId,
    title: `subagent ${clip(label, 80)}`,
    kind: "think",
    status: "in_progress",
    _meta: { "offshoot/run_id": toolCallId },
  };
}

function learn(run: string, child: Child, event: RunEvent): SessionUpdate | undefined {
  switch (event.type) {
    case "turn_start":
      child.text = "";
      return undefined;
    case "text_delta":
      child.text += event.delta;
      return undefined;
    case "tool_start":
      child.lines.push(`- ${toTitle(event.name, event.arguments)}`);
      return toContent(run, { ...child, text: "" }, "");
    case "run_end":
      return toContent(run, child, event.ending);
    default:
      return undefined;
  }
}

type Update = Extract<SessionUpdate, { sessionUpdate: "tool_call_update" }>;

function toContent(toolCallId: string, child: Child | undefined, otherwise: string): Update {
  const { lines = [], text: said = "", why = "" } = child ?? {};
  const shown = [...lines.slice(-MAX_LINES), clip(said, MAX_TEXT_CHARS), why].filter(Boolean);
  const text = shown.join("\n") || otherwise;
  const content = [{ type: "content" as const, content: { type: "text" as const, text } }];
  return { sessionUpdate: "tool_call_update", toolCallId, content };
}
