/** The text of a content part. A part of an unknown kind may have anything in that field. */
export function textOfPart(part: object): string | undefined {
  return "text" in part && typeof part.text === "string" ? part.text : undefined;
}
