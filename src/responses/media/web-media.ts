/**
 * Fetches images and files that a request names by their address, through the client of the web tools: only from
 * public addresses, with a connection to exactly the address that was checked, and with limits on size, time and
 * redirects.
 */

import { isIP } from "node:net";
import type { Clock } from "../../base/clock.ts";
import { Failure, toFailure } from "../../base/failure.ts";
import { clip } from "../../base/text.ts";
import type { WebClient, WebClientParts } from "../../tools/web/network/web-client.ts";
import { toMediaType } from "../files/media-type.ts";

export interface WebMediaSettings
  extends Partial<Pick<WebClientParts, "privateHosts" | "resolve" | "dial" | "userAgent" | "ca">> {
  readonly maxImageBytes?: number | undefined;
  readonly maxFileBytes?: number | undefined;
}

export interface FetchedMedia {
  readonly filename: string;
  readonly mediaType: string;
  readonly bytes: Uint8Array;
}

export interface WebMedia {
  /** Rejects with `invalid_request`: the address is the client's. */
  get(url: string, kind: "image" | "file", signal: AbortSignal): Promise<FetchedMedia>;
}

/** The largest image that vendors accept. */
const MAX_IMAGE_BYTES = 20 * 1024 * 1024;
const MAX_FILE_BYTES = 50 * 1024 * 1024;
const TOTAL_MS = 30_000;

/** For one run: the client counts how often the run may use the web. */
export function createWebMedia(settings: WebMediaSettings, clock: Clock): WebMedia {
  const { maxImageBytes = MAX_IMAGE_BYTES, maxFileBytes = MAX_FILE_BYTES } = settings;
  const clients = new Map<number, Promise<WebClient>>();
  const open = (maxBytes: number): Promise<WebClient> => {
    const client = clients.get(maxBytes) ?? openClient(settings, clock, maxBytes);
    clients.set(maxBytes, client);
    return client;
  };
  return {
    async get(url, kind, signal) {
      const maxBytes = kind === "image" ? maxImageBytes : maxFileBytes;
      try {
        const client = await open(maxBytes);
        const accept = kind === "image" ? "image/*" : "*/*";
        const answer = await client.get(url, { signal, accept, allowsHost: () => true });
        return read(answer, { url, kind, maxBytes });
      } catch (thrown) {
        if (signal.aborted) throw thrown;
        const { message } = toFailure(thrown);
        throw new Failure("invalid_request", message, { param: "input", cause: thrown });
      }
    },
  };
}

/** Loaded for the first address. */
async function openClient(
  settings: WebMediaSettings,
  clock: Clock,
  maxBytes: number,
): Promise<WebClient> {
  const { createWebClient } = await import("../../tools/web/network/web-client.ts");
  const { resolveHost } = await import("../../tools/web/network/resolve-host.ts");
  const { privateHosts = [], userAgent = "offshoot", resolve = resolveHost, dial, ca } = settings;
  return createWebClient({
    clock,
    resolve,
    dial,
    ca,
    privateHosts,
    userAgent,
    // The client requested it, like a person who opens a link.
    respectRobots: false,
    limits: { wireBytes: maxBytes, plainBytes: maxBytes, totalMs: TOTAL_MS },
  });
}

type Answer = Awaited<ReturnType<WebClient["get"]>>;

interface Wanted {
  readonly url: string;
  readonly kind: "image" | "file";
  readonly maxBytes: number;
}

function read(answer: Answer, { url, kind, maxBytes }: Wanted): FetchedMedia {
  const { status, body, isCut, contentType } = answer;
  const shown = clip(url, 200);
  if (status < 200 || status > 299) throw invalid(`\`${shown}\` answers with status ${status}.`);
  if (isCut) throw invalid(`\`${shown}\` is larger than ${maxBytes} bytes.`);
  const filename = new URL(url).pathname.split("/").at(-1) || kind;
  if (kind === "file") return { filename, mediaType: toMediaType(filename, body), bytes: body };
  // A name can say anything: the type of an image comes from its bytes, or from the server that has it.
  const seen = toMediaType("", body);
  const mediaType = seen.startsWith("image/") ? seen : (contentType.split(";", 1)[0] ?? "").trim();
  if (mediaType.startsWith("image/")) return { filename, mediaType, bytes: body };
  throw invalid(`\`${shown}\` is not an image but \`${mediaType || seen}\`.`);
}

/**
 * Refuses an address that is clearly not public, before any request is sent: also if the vendor fetches it, who may
 * be in the same network.
 */
export async function checkMediaUrl(
  url: string,
  { privateHosts = [] }: WebMediaSettings,
): Promise<void> {
  const guard = await import("../../tools/web/network/url-guard.ts");
  const { checkAddress } = await import("../../tools/web/network/address-guard.ts");
  const parsed = guard.checkUrl(url);
  const name = guard.toHostName(parsed);
  if (privateHosts.some((host) => host === name || host === parsed.host)) return;
  const why = guard.checkHost(parsed) ?? (isIP(name) === 0 ? undefined : checkAddress(name));
  if (why) throw guard.refused(parsed.host, why);
}

function invalid(message: string): Failure {
  return new Failure("invalid_request", message, { param: "input" });
}
