/** Who asks a person: the run itself or a subagent, and what the person has said for its whole tree. */

import type { AgentTask } from "../agent/task.ts";
import { clip } from "../base/text.ts";
import type { RunContext } from "../engine/engine.ts";
import type { Item } from "../protocol/items.ts";
import { type Always, createAlways } from "../tools/gate/always.ts";
import type { Ask, Asker } from "../tools/gate/ask.ts";
import type { GateSurroundings } from "./open-gate.ts";

type Place = Pick<RunContext, "id" | "path" | "uncounted">;

export interface Askers {
  of(task: AgentTask, run: Place): Pick<GateSurroundings, "ask" | "asker" | "treeAlways">;
  /** Forgets what was said for a tree, with the end of its root. */
  end(run: Pick<RunContext, "id">): void;
}

export function createAskers(ask: Ask | undefined): Askers {
  const trees = new Map<string, Always>();
  return {
    of(task, run) {
      if (!ask) return { ask };
      const root = rootOf(run.id);
      const treeAlways = trees.get(root) ?? createAlways();
      trees.set(root, treeAlways);
      return {
        // A person takes as long as a person takes: that is not the run's time.
        ask: (question, signal) => run.uncounted(() => ask(question, signal)),
        asker: task.depth > 0 ? toAsker(task, run) : undefined,
        treeAlways,
      };
    },
    end({ id }) {
      if (rootOf(id) === id) trees.delete(id);
    },
  };
}

/** The id of a child is its parent's and its place. */
function rootOf(id: string): string {
  return id.split("/", 1)[0] ?? id;
}

/** As much of a task as a question shows. */
const TASK_CHARS = 200;

function toAsker({ label, agent, depth, items }: AgentTask, { path }: Place): Asker {
  const task = clip(firstWords(items).replace(/\s+/g, " "), TASK_CHARS);
  return { label: label ?? "", agent: agent ?? null, path, depth, task };
}

function firstWords(items: readonly Item[]): string {
  const message = items.find((item) => item.type === "message" && item.role === "user");
  if (message?.type !== "message") return "";
  if (typeof message.content === "string") return message.content;
  return message.content.map((part) => (part.type === "input_text" ? part.text : "")).join(" ");
}
