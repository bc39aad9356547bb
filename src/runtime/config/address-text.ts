/** The text of an address of the record: its kind, and its password, which is never shown. */

import { isPostgres } from "../../store/open-kept.ts";

/** True if a text may be the value of `store`: an address with a password may not. */
export function isStoreAddress(text: string): boolean {
  if (text.trim() === "") return false;
  return isPath(text) || (isPostgres(text) && !hasPassword(text));
}

export function isPath(text: string): boolean {
  return !/^[a-z][a-z0-9+.-]+:/i.test(text);
}

/** The part that may be shown; also works for text that is not a valid address. */
export function withoutPassword(address: string): string {
  const trimmed = address.trim();
  if (!isPostgres(trimmed)) return address;
  if (!URL.canParse(trimmed)) return trimmed.replace(INVALID, "$1@");
  const url = new URL(trimmed);
  url.password = "";
  url.searchParams.delete("password");
  return url.href;
}

export function hasPassword(address: string): boolean {
  const trimmed = address.trim();
  if (!URL.canParse(trimmed)) return INVALID.test(trimmed);
  const { password, searchParams } = new URL(trimmed);
  return password !== "" || (searchParams.get("password") ?? "") !== "";
}

/**
 * The user and the password of an address that is not valid, often because of an unescaped `#`, `/` or `?` in the
 * password, which therefore ends at the last `@`.
 */
const INVALID = /^([a-z]+:\/\/[^:@]*):.*@/is;
