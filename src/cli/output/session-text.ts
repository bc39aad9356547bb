/**
 * Writes a session as a document for people, or as the items of the API, one on each line. Pure.
 */

import { toPlainText } from "../../agent/context/message-text.ts";
import type { Item } from "../../protocol/items.ts";
import type { SessionSummary } from "../../runtime/sessions/session.ts";

export function* renderItems(
  { id, title, folder }: Pick<SessionSummary, "id" | "title" | "folder">,
  items: readonly Item[],
  isLines: boolean,
): Generator<string> {
  if (isLines) {
    for (const item of items) yield `${JSON.stringify(item)}\n`;
    return;
  }
  yield `# ${title || id}\n\nSession ${id}${folder === null ? "" : ` in \`${folder}\``}\n`;
  for (const item of items) {
    const text = renderItem(item);
    if (text !== "") yield `\n${text}\n`;
  }
}

const WHO: Readonly<Record<string, string>> = { user: "You", assistant: "Agent" };

function renderItem(item: Item): string {
  switch (item.type) {
    case "message":
      return `## ${WHO[item.role] ?? item.role}\n\n${toPlainText(item.content).trim()}`;
    case "function_call":
      return `### Call of \`${item.name}\`\n\n${fence(item.arguments)}`;
    case "function_call_output":
      return `### Result\n\n${fence(toPlainText(item.output))}`;
    case "reasoning":
      return "";
    default:
      return `### ${item.type}\n\n${fence(JSON.stringify(item))}`;
  }
}

/** Longer than any fence in the text. */
function fence(text: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
  const marks = "`".repeat(longest + 1);
  return `${marks}\n${text.trimEnd()}\n${marks}`;
}
