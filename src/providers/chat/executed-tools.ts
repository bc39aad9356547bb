/** Tools that a chat server ran itself (Groq's `executed_tools`), as items of the Responses API. */

import { isJsonObject, tryParseJson } from "../../base/json.ts";
import type { Item } from "../../protocol/items.ts";
import type { ChatExecuted } from "./schema.ts";
import type { SourcePage } from "./sources.ts";

export class ExecutedTools {
  /** The calls by the server's number. A later event has more details of the same call. */
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

  /** The pages that searches found, for the text to cite. */
  pages(): SourcePage[] {
    return [...this.#known.values()].flatMap((tool) =>
      (tool.search_results?.results ?? []).map(({ url, title }) => ({
        url: url ?? "",
        title: title ?? "",
      })),
    );
  }

  /** Returns one item for each call that was not taken yet. */
  take(): Item[] {
    const items = [...this.#known.values()].map(toItem);
    this.#known.clear();
    return items;
  }
}

/** The name under which a tool's calls are counted. */
export function nameOf({ type }: Item): string {
  return type === "web_search_call" ? "browser_search" : "code_interpreter";
}

function toItem(tool: ChatExecuted): Item {
  const input = tryParseJson(tool.arguments ?? "");
  const { query, url, code } = isJsonObject(input) ? input : {};
  if (/python|code/.test(tool.type ?? "")) {
    const logs = tool.output ?? "";
    return {
      type: "code_interpreter_call",
      status: "completed",
      container_id: "",
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
