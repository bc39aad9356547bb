/** The words and pictures of items, for people. Pure. */

export type Fields = Readonly<Record<string, unknown>>;

export interface Said {
  readonly text: string;
  readonly pictures: readonly string[];
}

export function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

/** The text of a message's content, or of a result with parts. */
export function saidOf(content: unknown): Said {
  if (typeof content === "string") return { text: content, pictures: [] };
  if (!Array.isArray(content)) return { text: "", pictures: [] };
  const parts = content as readonly Fields[];
  return {
    text: parts.map(wordsOf).filter(Boolean).join("\n\n"),
    pictures: parts.map(pictureOf).filter(Boolean),
  };
}

function wordsOf(part: Fields): string {
  const said = textOf(part["text"]) || textOf(part["refusal"]) || textOf(part["transcript"]);
  if (said !== "" || pictureOf(part) !== "") return said;
  const name = textOf(part["filename"]) || textOf(part["file_id"]) || textOf(part["image_url"]);
  return `[${textOf(part["type"])}${name ? `: ${name.slice(0, 120)}` : ""}]`;
}

/** Only data inside the item: an address is never fetched. */
function pictureOf(part: Fields): string {
  const url = textOf(part["image_url"]) || textOf(part["result"]);
  return /^data:image\/(png|jpeg|gif|webp);/i.test(url) ? url : "";
}

export function outputOf(item: Fields): Said {
  const { output } = item;
  if (typeof output === "string" || Array.isArray(output)) return saidOf(output);
  return { text: JSON.stringify(item, null, 2), pictures: [] };
}
