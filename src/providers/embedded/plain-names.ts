/**
 * Tools under the names that the intents know. Servers put their own name before a tool's name
 * (`offshoot__bash_read`), and hosted tools with the same function as ours have other names.
 */

import type { Item } from "../../protocol/items.ts";
import type { ToolChoice } from "../../protocol/tools.ts";
import type { ModelRequest } from "../provider.ts";

const STAND_INS: Readonly<Record<string, string>> = {
  web_search: "search_web",
  web_search_open_page: "fetch",
  code_interpreter: "python_execute",
};

/** The names that the intents call. Any other tool is used under its own name. */
const KNOWN: ReadonlySet<string> = new Set([
  ...["bash_find", "bash_ripgrep", "bash_read", "read", "write", "edit", "glob", "grep"],
  ...["file_ops", "shell", "terminal", "python_execute", "search_web", "fetch", "scrape_webpage"],
  ...["file_search", "subagent", "call_subagent", "parallel_subagent"],
]);

export interface PlainRequest {
  readonly request: ModelRequest;
  /** The name that a tool is offered under. */
  offeredAs(name: string): string;
  /** An answer that names tools by the offered names. */
  inTheirWords(text: string): string;
}

export function withPlainNames(request: ModelRequest): PlainRequest {
  const plain = findPlainNames(request);
  if (plain.size === 0) return { request, offeredAs: asIs, inTheirWords: asIs };
  const offered = new Map([...plain].map(([name, short]) => [short, name]));
  const rename = (name: string): string => plain.get(name) ?? name;
  return {
    offeredAs: (name) => offered.get(name) ?? name,
    inTheirWords: (text) =>
      text.replace(/(tool )`(\w+)`/g, (whole, before: string, name: string) => {
        const known = offered.get(name);
        return known === undefined ? whole : `${before}\`${known}\``;
      }),
    request: {
      ...request,
      tools: request.tools.map((tool) =>
        tool.type === "function" ? { ...tool, name: rename(tool.name) } : tool,
      ),
      tool_choice: toChoice(request.tool_choice, rename),
      items: request.items.map((item) => toItem(item, plain)),
    },
  };
}

const asIs = (text: string): string => text;

/**
 * Maps plain names to offered ones. A name is not shortened if the short one is taken or would belong to
 * two tools.
 */
function findPlainNames({ tools }: ModelRequest): Map<string, string> {
  const names = tools.flatMap((tool) => (tool.type === "function" ? [tool.name] : []));
  const taken = new Set(names);
  const plain = new Map<string, string>();
  for (const name of names) {
    const last = name.slice(name.lastIndexOf("__") + 1).replace(/^_+/, "");
    const short = STAND_INS[last] ?? last;
    if (!KNOWN.has(short) || taken.has(short)) continue;
    taken.add(short);
    plain.set(name, short);
  }
  return plain;
}

function toChoice(choice: ToolChoice, rename: (name: string) => string): ToolChoice {
  if (typeof choice === "string") return choice;
  if (choice.type === "function") return { ...choice, name: rename(choice.name) };
  if (choice.type !== "allowed_tools") return choice;
  const tools = choice.tools.map((entry) =>
    typeof entry["name"] === "string" ? { ...entry, name: rename(entry["name"]) } : entry,
  );
  return { ...choice, tools };
}

function toItem(item: Item, plain: ReadonlyMap<string, string>): Item {
  if (item.type === "function_call") return { ...item, name: plain.get(item.name) ?? item.name };
  if (item.type !== "message" || item.role !== "user") return item;
  const rename = (text: string): string => {
    let said = text;
    for (const [name, short] of plain) said = said.replaceAll(name, short);
    return said;
  };
  const { content } = item;
  if (typeof content === "string") return { ...item, content: rename(content) };
  const parts = content.map((part) =>
    part.type === "input_text" ? { ...part, text: rename(part.text) } : part,
  );
  return { ...item, content: parts };
}
