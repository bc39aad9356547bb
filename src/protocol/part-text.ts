/** What a content part says as a text. A part of a kind that we do not know may have anything under that name. */
export function textOfPart(part: object): string | undefined {
  return "text" in part && typeof part.text === "string" ? part.text : undefined;
}
