/** Lists what this server can offer a model: its tools, and the agents that subagents can be. */

import { isJsonObject, type JsonObject } from "../../base/json.ts";
import type { AgentOptions } from "../../delegation/agents/own-agents.ts";
import { type Route, toJson } from "../route.ts";

interface ToolRouteParts {
  readonly describeTools: (names: readonly string[]) => readonly JsonObject[];
  readonly agents: readonly Pick<AgentOptions, "name" | "description" | "model">[];
}

export function createToolRoutes({ describeTools, agents }: ToolRouteParts): Route[] {
  return [
    {
      method: "GET",
      path: "/v1/tools",
      scope: "responses",
      summary: "The server's own tools that this key may offer (MCP label `offshoot`), and agents",
      async handle({ caller }) {
        const data = describeTools(caller.catalogue).map(toToolView);
        const named = agents.map(({ name, description, model = null }) => {
          return { object: "agent", name, description, model };
        });
        return toJson({ object: "list", data, agents: named });
      },
    },
  ];
}

function toToolView(spec: JsonObject): object {
  const { name = "", description = null } = isJsonObject(spec) ? spec : {};
  return { object: "tool", name, description };
}
