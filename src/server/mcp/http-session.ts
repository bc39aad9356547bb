/**
 * The id of a session over HTTP. No process stores anything of a session: the id itself says what the client can do
 * and to which tenant it belongs, sealed with the server's key. So any process of any machine that shares the record
 * can answer any request.
 */

import { createHmac, timingSafeEqual } from "node:crypto";
import { makeId } from "../../base/ids.ts";

export interface HttpSession {
  /** Names the session. */
  readonly id: string;
  /** True if the client shows forms to a person. */
  readonly elicits: boolean;
}

interface Sealing {
  readonly tenant: string;
  readonly sealKey: Uint8Array;
}

export function openHttpSession(elicits: boolean, sealing: Sealing): string {
  const told = `${makeId("mcp")}.${elicits ? "forms" : "plain"}`;
  return `${told}.${toMac(told, sealing)}`;
}

/** Undefined for an id that this server did not make for this tenant. */
export function readHttpSession(text: string, sealing: Sealing): HttpSession | undefined {
  const [, told = "", id = "", kind = "", mac = ""] =
    /^((mcp_\w+)\.(forms|plain))\.([\w-]{43})$/.exec(text) ?? [];
  if (told === "" || !isSame(mac, toMac(told, sealing))) return undefined;
  return { id, elicits: kind === "forms" };
}

function toMac(told: string, { tenant, sealKey }: Sealing): string {
  return createHmac("sha256", sealKey)
    .update(`mcp session\n${tenant}\n${told}`)
    .digest("base64url");
}

function isSame(a: string, b: string): boolean {
  const one = Buffer.from(a);
  const other = Buffer.from(b);
  return one.length === other.length && timingSafeEqual(one, other);
}
