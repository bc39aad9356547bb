/** The rows of the commands that speak a protocol with other programs, in the table of commands: MCP and ACP. */

import type { CliCommand } from "./command.ts";
import { MODEL_OPTIONS } from "./model-options.ts";
import { STORE_OPTION } from "./store-option.ts";

const SERVE = ["serve"] as const;

/**
 * Flags of `run` under the same names: they limit what the agents may do before any client asks.
 */
const SERVE_OPTIONS: CliCommand["options"] = {
  model: { ...MODEL_OPTIONS.model, only: SERVE },
  agent: {
    type: "string",
    value: "NAME",
    multiple: true,
    only: SERVE,
    complete: "agents",
    summary: "offer only these agents",
  },
  root: {
    type: "string",
    value: "DIR",
    only: SERVE,
    summary: "the folder they work in (this one)",
  },
  tools: { type: "string", value: "NAMES", only: SERVE, summary: "the tools that they may have" },
  budget: {
    type: "string",
    value: "USD",
    only: SERVE,
    summary: "limit in dollars for all runs together",
  },
  "max-runs": {
    type: "string",
    value: "N",
    only: SERVE,
    summary: "runs that work at once; others wait (16)",
  },
  approve: { type: "string", value: "MODE", only: SERVE, summary: "as for `run`" },
  sandbox: { type: "string", value: "LEVEL", only: SERVE, summary: "as for `run`" },
  allow: { type: "string", value: "RULE", multiple: true, only: SERVE, summary: "as for `run`" },
  deny: { type: "string", value: "RULE", multiple: true, only: SERVE, summary: "as for `run`" },
  "approval-wait": { type: "string", value: "SECONDS", only: SERVE, summary: "as for `run`" },
  wait: {
    type: "string",
    value: "SECONDS",
    only: SERVE,
    summary: "how long a call waits for its run (45)",
  },
};

export const MCP_COMMAND: CliCommand = {
  summary: "Manage MCP servers whose tools runs may use, or serve agents as MCP tools",
  usage: "[list | add NAME URL | add NAME -- COMMAND | serve | SUBCOMMAND NAME]",
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
    ...SERVE_OPTIONS,
    "no-test": { type: "boolean", only: ["add"], summary: "do not connect, and approve nothing" },
  },
  subcommands: {
    list: "List the servers, and how many tools of each are approved",
    add: "Connect to a server, show its tools, approve and keep them",
    remove: "Forget a server, its approvals and its login",
    test: "Connect, and show what is new or has changed",
    approve: "Connect, and approve what the server offers now",
    login: "Log in to a server over HTTP that asks for it",
    serve: "Offer the agents of this folder as tools, over standard input and output",
  },
  examples: [
    "offshoot mcp add files -- npx -y @modelcontextprotocol/server-filesystem .",
    "offshoot mcp add web https://example.com/mcp --header 'Authorization: Bearer $WEB_KEY'",
    "offshoot mcp test files",
    "offshoot mcp serve --tools read,grep --budget 2",
  ],
  keys: true,
  load: () => import("./commands/mcp.ts"),
};

export const ACP_COMMAND: CliCommand = {
  summary: "Serve agents to an editor over the Agent Client Protocol",
  usage: "",
  options: {
    model: MODEL_OPTIONS.model,
    tools: { type: "string", value: "LIST", summary: "Tools it may use; `none` for none" },
    approve: {
      type: "string",
      value: "MODE",
      summary: "How calls are approved at first: ask, auto, deny",
    },
    sandbox: { type: "string", value: "LEVEL", summary: "How commands are isolated" },
    allow: { type: "string", value: "RULE", multiple: true, summary: "As for `run`" },
    deny: { type: "string", value: "RULE", multiple: true, summary: "As for `run`" },
    setup: {
      type: "boolean",
      summary: "Set up a model on this terminal instead, as `offshoot setup` does",
    },
    "max-cost": { type: "string", value: "USD", summary: "Limit in dollars for one prompt" },
    ...STORE_OPTION,
  },
  examples: ["offshoot acp", "offshoot acp -m anthropic/claude-sonnet-5-5 --sandbox sandbox"],
  keys: true,
  load: () => import("./commands/acp.ts"),
};
