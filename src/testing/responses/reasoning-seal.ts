/**
 * The encrypted content of a reasoning item: nothing secret, but a text that only this server makes,
 * so that a client which loses or mixes up what it was given is found out.
 */

const PREFIX = "gAAAA";

export function sealReasoning(itemId: string): string {
  return PREFIX + Buffer.from(`sealed ${itemId}`).toString("base64url");
}

/** `itemId` is undefined where a client leaves the id out, which it may. */
export function isSeal(text: string, itemId: string | undefined): boolean {
  const opened = Buffer.from(text.slice(PREFIX.length), "base64url").toString("utf8");
  if (!opened.startsWith("sealed ")) return false;
  const sealed = opened.slice("sealed ".length);
  return sealReasoning(sealed) === text && (itemId === undefined || sealed === itemId);
}
