/** `/mcp`. The protocol's code is loaded when the first client uses it. */

import type { McpDoor, McpDoorParts } from "../mcp/http-door.ts";
import type { Route } from "../route.ts";

export type McpRouteParts = McpDoorParts;

export function createMcpRoutes(parts: McpRouteParts): Route[] {
  let door: Promise<McpDoor> | undefined;
  const open = (): Promise<McpDoor> => {
    door ??= import("../mcp/http-door.ts").then(({ createMcpDoor }) => createMcpDoor(parts));
    return door;
  };
  return [
    {
      method: "POST",
      path: "/mcp",
      summary: "Agents of this server as tools of MCP clients (streamable HTTP)",
      scope: "responses",
      speaks: "mcp",
      handle: async (call) => await (await open())(call),
    },
  ];
}
