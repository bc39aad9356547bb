/**
 * The encrypted content of a reasoning item: not secret, but a text that only this server makes, so
 * that a client which loses or mixes up what it was given is detected.
 */

const PREFIX = "gAAAA";

/** The account of servers without a named one. */
export const ONE_ACCOUNT = "default";

/** The server of another account does not accept the seal. */
export function sealReasoning(itemId: string, account = ONE_ACCOUNT): string {
  return PREFIX + Buffer.from(`sealed ${account} ${itemId}`).toString("base64url");
}

/** `itemId` is undefined if a client leaves the id out, which it may. */
export function isSeal(text: string, itemId: string | undefined, account: string): boolean {
  const opened = Buffer.from(text.slice(PREFIX.length), "base64url").toString("utf8");
  const head = `sealed ${account} `;
  if (!opened.startsWith(head)) return false;
  const sealed = opened.slice(head.length);
  return sealReasoning(sealed, account) === text && (itemId === undefined || sealed === itemId);
}
