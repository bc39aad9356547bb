/** The row of `offshoot mcp` in the table of commands. */

import type { Command } from "./command.ts";

export const MCP_COMMAND: Command = {
  summary: "The MCP servers whose tools runs may use",
  usage: "[list | add NAME URL | add NAME -- COMMAND | SUBCOMMAND NAME]",
  options: {
    json: { type: "boolean", only: ["list", "test"], summary: "JSON instead of text" },
    env: {
      type: "string",
      value: "NAME",
      multiple: true,
      only: ["add"],
      summary: "a variable it gets: NAME or NAME=$OTHER",
    },
    header: {
      type: "string",
      value: "HEADER",
      multiple: true,
      only: ["add"],
      summary: "a header for the URL, `Name: $VARIABLE`",
    },
    "no-test": { type: "boolean", only: ["add"], summary: "do not connect, and approve nothing" },
  },
  subcommands: {
    list: "The servers, and how many tools of each are approved",
    add: "Connect to a server, show its tools, approve and keep them",
    remove: "Forget a server, its approvals and its login",
    test: "Connect, and show what is new or has changed",
    approve: "Connect, and approve what the server offers now",
    login: "Log in to a server over HTTP that asks for it",
  },
  examples: [
    "offshoot mcp add files -- npx -y @modelcontextprotocol/server-filesystem .",
    "offshoot mcp add web https://example.com/mcp --header 'Authorization: Bearer $WEB_KEY'",
    "offshoot mcp test files",
  ],
  load: () => import("./commands/mcp.ts"),
};
