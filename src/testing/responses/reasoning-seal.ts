/**
 * The encrypted content of a reasoning item: nothing secret, but a text that only this server makes,
 * so that a client which loses or mixes up what it was given is found out.
 */

const PREFIX = "gAAAA";

/** Of servers that are not told whose they are. */
export const ONE_ACCOUNT = "default";

/** Another account's server does not know the seal as its own. */
export function sealReasoning(itemId: string, account = ONE_ACCOUNT): string {
  return PREFIX + Buffer.from(`sealed ${account} ${itemId}`).toString("base64url");
}

/** `itemId` is undefined where a client leaves the id out, which it may. */
export function isSeal(text: string, itemId: string | undefined, account: string): boolean {
  const opened = Buffer.from(text.slice(PREFIX.length), "base64url").toString("utf8");
  const head = `sealed ${account} `;
  if (!opened.startsWith(head)) return false;
  const sealed = opened.slice(head.length);
  return sealReasoning(sealed, account) === text && (itemId === undefined || sealed === itemId);
}
