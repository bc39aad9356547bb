/** The server of every scenario: files, tools in place of the web, a machine to run commands on. */

import type { Json } from "../../src/base/json.ts";
import type { ResponsesSettings } from "../../src/runtime/open-responses.ts";
import type { Tool } from "../../src/tools/tool.ts";
import type { TestServer } from "../server/server-fixture.ts";

/** Files of the folder that the server's own tools work in. */
export const FILES = { "notes.txt": "The colour is blue.\n" };

export const OWN_SERVER = {
  type: "mcp",
  server_label: "offshoot",
  require_approval: "never",
  allowed_tools: ["bash_read"],
};

/** In place of those that would reach the network. */
export const WEB_TOOLS: readonly Tool[] = [
  standIn("search_web", [{ title: "One", url: "https://one.example.org/", description: "1." }]),
  standIn("scrape_webpage", "# Page"),
];

/** The tools that run on this machine for clients. No pictures are really drawn. */
export const MACHINE: NonNullable<ResponsesSettings["machine"]> = {
  interpreter: { wheels: undefined, index: undefined },
  shell: { level: "process", env: { PATH: process.env["PATH"] } },
  images: {
    host: "images.example.org",
    async make(_, { onPartial }) {
      await onPartial(DOT, 0);
      return DOT;
    },
  },
};

const DOT = { b64_json: "iVBORw0KGgo=", revised_prompt: "A dot." };

function standIn(name: string, result: Json): Tool {
  const parameters = { type: "object", properties: {} };
  return {
    spec: { type: "function", name, description: "", parameters, strict: false },
    readOnly: true,
    effect: "network",
    parse: (input) => input,
    run: async () => result,
  };
}

export async function makeStore({ url, ask }: TestServer): Promise<object> {
  const form = new FormData();
  form.append("purpose", "assistants");
  form.append("file", new Blob(["The colour is blue."]), "notes.txt");
  const answer = await fetch(`${url}/v1/files`, { method: "POST", body: form });
  const file_ids = [((await answer.json()) as { id: string }).id];
  const { body } = await ask("POST", "/v1/vector_stores", { name: "notes", file_ids });
  return { tools: [{ type: "file_search", vector_store_ids: [(body as { id: string }).id] }] };
}
