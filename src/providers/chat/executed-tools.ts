/** Tools that a chat server ran itself (Groq's `executed_tools`), as items of the Responses API. */

import { isJsonObject, tryParseJson } from "../../base/json.ts";
import type { Item } from "../../protocol/items.ts";
import type { ChatExecuted } from "./schema.ts";
import type { Page } from "./sources.ts";

export class ExecutedTools {
  /** By the server's number; a later event knows more. */
  readonly #known = new Map<number, ChatExecuted>();

  get isEmpty(): boolean {
    return this.#known.size === 0;
  }

  read(executed: readonly ChatExecuted[]): void {
    for (const [at, tool] of executed.entries()) {
      const index = tool.index ?? at;
      this.#known.set(index, { ...this.#known.get(index), ...tool });
    }
  }

  /** What was found, for the text to cite. */
  pages(): Page[] {
    return [...this.#known.values()].flatMap((tool) =>
      (tool.search_results?.results ?? []).map(({ url, title }) => ({
        url: url ?? "",
        title: title ?? "",
      })),
    );
  }

  /** One item for each, and none is told twice. */
  take(): Item[] {
    const items = [...this.#known.values()].map(toItem);
    this.#known.clear();
    return items;
  }
}

/** What a tool is counted as. */
export function nameOf({ type }: Item): string {
  return type === "web_search_call" ? "browser_search" : "code_interpreter";
}

function toItem(tool: ChatExecuted): Item {
  const input = tryParseJson(tool.arguments ?? "");
  const { query, url, code } = isJsonObject(input) ? input : {};
  if (/python|code/.test(tool.type ?? "")) {
    const logs = tool.output ?? "";
    return {
      ...{ type: "code_interpreter_call", status: "completed", container_id: "" },
      code: typeof code === "string" ? code : (tool.arguments ?? ""),
      outputs: logs === "" ? [] : [{ type: "logs", logs }],
    } as unknown as Item;
  }
  const asked = typeof query === "string" ? query : "";
  const sources = (tool.search_results?.results ?? []).map((page) => ({
    type: "url",
    url: page.url ?? "",
  }));
  const action =
    typeof url === "string" && asked === ""
      ? { type: "open_page", url }
      : { type: "search", query: asked, queries: [asked], sources };
  return { type: "web_search_call", status: "completed", action } as unknown as Item;
}
