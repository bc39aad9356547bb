/** The text of an address of the record: its kind, and its password, which is never shown. */

import { isPostgres } from "../../store/open-kept.ts";

/** True if a text may be the value of `store`: an address with a password may not. */
export function isStoreAddress(text: string): boolean {
  if (text.trim() === "") return false;
  return isPath(text) || (isPostgres(text) && passwordOf(text) === "");
}

export function isPath(text: string): boolean {
  return !/^[a-z][a-z0-9+.-]+:/i.test(text);
}

/** The part that may be shown; also works for text that is not a valid address. */
export function withoutPassword(address: string): string {
  const trimmed = address.trim();
  if (!isPostgres(trimmed) || !URL.canParse(trimmed)) return address;
  const url = new URL(trimmed);
  url.password = "";
  url.searchParams.delete("password");
  return url.href;
}

export function passwordOf(address: string): string {
  if (!URL.canParse(address)) return "";
  const url = new URL(address);
  return decodeURIComponent(url.password) || (url.searchParams.get("password") ?? "");
}
