/** Every kind of tool that a request may offer. */

import type { JsonObject } from "../../../src/base/json.ts";
import { tool } from "./parameter-probes.ts";
import type { Probe, World } from "./probe.ts";

/** Offered unchanged to a vendor that supports it, and as a function to the others. */
const offered = (given: JsonObject, functionName: string): Probe => {
  const type = String(given["type"]);
  return {
    body: { tools: [given] },
    name: new RegExp(type),
    sent: new RegExp(`"type":"${type}"`),
    bridged: new RegExp(`"name":"[^"]*${functionName}`),
    shown: countsTools,
  };
};

/** The embedded model counts the functions that it is offered. */
function countsTools(
  { usage }: { readonly usage: { readonly input_tokens: number } | null },
  { upstream }: World,
): "bridged" | false {
  return upstream === undefined && (usage?.input_tokens ?? 0) > 10 ? "bridged" : false;
}

/** The vendors' own names for a search. */
const SEARCHES = /"type":"web_search(_preview)?"|web_search_20250305|"googleSearch"/;

export const TOOL_PROBES: Readonly<Record<string, Probe>> = {
  function: {
    body: { tools: [tool("zebra_tool")] },
    name: /tools\[0\]/,
    sent: /zebra_tool/,
    shown: (response, world) => countsTools(response, world) !== false,
  },
  custom: offered({ type: "custom", name: "zebra_custom" }, "zebra_custom"),
  "custom (grammar)": offered(
    {
      type: "custom",
      name: "zebra_custom",
      format: { type: "grammar", syntax: "regex", definition: "a+" },
    },
    "zebra_custom",
  ),
  namespace: offered(
    {
      type: "namespace",
      name: "zebra",
      description: "Its tools.",
      tools: [tool("zebra_tool")],
    },
    "zebra",
  ),
  tool_search: {
    ...offered({ type: "tool_search" }, "tool_search"),
    body: { tools: [{ type: "tool_search" }, { ...tool("late_tool"), defer_loading: true }] },
  },
  programmatic_tool_calling: offered({ type: "programmatic_tool_calling" }, "program"),
  web_search: { ...offered({ type: "web_search" }, "web_search"), sent: SEARCHES },
  web_search_preview: { ...offered({ type: "web_search_preview" }, "web_search"), sent: SEARCHES },
  'web_search ("execution": "server")': {
    ...offered({ type: "web_search", execution: "server" }, "web_search"),
    sent: SEARCHES,
  },
  web_search_20250305: offered({ type: "web_search_20250305" }, "zebra"),
  google_search: { ...offered({ type: "google_search" }, "zebra"), sent: /"googleSearch":/ },
  nova_grounding: {
    ...offered({ type: "nova_grounding" }, "zebra"),
    sent: /"systemTool":\{"name":"nova_grounding"/,
  },
  code_execution_20250825: offered({ type: "code_execution_20250825" }, "zebra"),
  code_execution: { ...offered({ type: "code_execution" }, "zebra"), sent: /"codeExecution":/ },
  web_fetch_20250910: offered({ type: "web_fetch_20250910" }, "zebra"),
  url_context: { ...offered({ type: "url_context" }, "zebra"), sent: /"urlContext":/ },
  file_search: {
    ...offered({ type: "file_search" }, "file_search"),
    body: async ({ server }) => {
      const { body } = await server.ask("POST", "/v1/vector_stores", { name: "zebra" });
      const vector_store_ids = [(body as { id: string }).id];
      return { tools: [{ type: "file_search", vector_store_ids }] };
    },
  },
  code_interpreter: {
    ...offered(
      { type: "code_interpreter", container: { type: "auto" } },
      "code_interpreter|python",
    ),
    sent: /"type":"code_interpreter"|code_execution_20250825|"codeExecution"/,
  },
  image_generation: offered({ type: "image_generation" }, "image_generation"),
  computer: offered({ type: "computer" }, "computer"),
  computer_use_preview: offered(
    {
      type: "computer_use_preview",
      environment: "browser",
      display_width: 1024,
      display_height: 768,
    },
    "computer",
  ),
  local_shell: offered({ type: "local_shell" }, "local_shell|shell"),
  "shell (local)": offered({ type: "shell", environment: { type: "local" } }, "shell"),
  "shell (container)": offered({ type: "shell", environment: { type: "container_auto" } }, "shell"),
  apply_patch: offered({ type: "apply_patch" }, "apply_patch"),
  "mcp (this server)": offered(
    { type: "mcp", server_label: "offshoot", require_approval: "never" },
    "bash_read",
  ),
  "mcp (a connector)": offered(
    { type: "mcp", server_label: "mail", connector_id: "connector_gmail" },
    "mail",
  ),
  "an unknown kind": offered({ type: "zebra_kind" }, "zebra_kind"),
};
