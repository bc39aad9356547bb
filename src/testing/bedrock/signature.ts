/**
 * Verifies a request's signature (SigV4) by computing it again, without the vendor's code and
 * without the signing side: two readings of the same document must agree.
 */

import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import type { RecordedRequest } from "../loopback.ts";
import { type AwsRejection, denied } from "./aws-rejection.ts";

/** A caller that may sign requests. */
export interface AwsCaller {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
  /** Milliseconds since 1970. */
  readonly expiresAt?: number;
}

export interface SignatureRules {
  readonly callers: readonly AwsCaller[];
  readonly region: string;
  readonly now: number;
}

const SERVICE = "bedrock";
const MAX_SKEW_MS = 5 * 60_000;
const AUTHORIZATION =
  /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([^/]*)\/([^/]*)\/aws4_request, ?SignedHeaders=([^,]+), ?Signature=([0-9a-f]{64})$/;

export function checkSignature(
  request: RecordedRequest,
  { callers, region, now }: SignatureRules,
): AwsRejection | undefined {
  const header = request.headers.authorization;
  if (header === undefined) {
    return denied("MissingAuthenticationTokenException", "Missing Authentication Token");
  }
  const [, keyId, date = "", scopeRegion, service, signed = "", signature = ""] =
    AUTHORIZATION.exec(header) ?? [];
  const caller = callers.find(({ accessKeyId }) => accessKeyId === keyId);
  if (keyId === undefined) return denied("IncompleteSignatureException", BAD_HEADER);
  if (!caller || request.headers["x-amz-security-token"] !== caller.sessionToken) {
    return denied("UnrecognizedClientException", UNKNOWN_TOKEN);
  }
  if (caller.expiresAt !== undefined && caller.expiresAt <= now) {
    return denied("ExpiredTokenException", EXPIRED_TOKEN);
  }
  if (scopeRegion !== region) return badSignature("Credential should be scoped to a valid region.");
  if (service !== SERVICE) {
    return badSignature(`Credential should be scoped to correct service: '${SERVICE}'.`);
  }
  const at = String(request.headers["x-amz-date"] ?? "");
  const skew = checkTime(at, date, now);
  if (skew) return skew;
  const names = signed.split(";");
  if (!["host", "x-amz-date"].every((name) => names.includes(name))) return badSignature(MISMATCH);
  const scope = `${date}/${region}/${SERVICE}/aws4_request`;
  const text = ["AWS4-HMAC-SHA256", at, scope, sha256(toCanonical(request, names))].join("\n");
  const key = [date, region, SERVICE, "aws4_request"].reduce<Buffer>(
    (made, part) => hmac(made, part),
    Buffer.from(`AWS4${caller.secretAccessKey}`),
  );
  const isRight = timingSafeEqual(hmac(key, text), Buffer.from(signature, "hex"));
  return isRight ? undefined : badSignature(MISMATCH);
}

const BAD_HEADER = "Authorization header is not in the form of AWS Signature Version 4.";
const UNKNOWN_TOKEN = "The security token included in the request is invalid.";
const EXPIRED_TOKEN = "The security token included in the request is expired";
const MISMATCH =
  "The request signature we calculated does not match the signature you provided. Check your AWS Secret Access Key and signing method. Consult the service documentation for details.";

function badSignature(message: string): AwsRejection {
  return denied("InvalidSignatureException", message);
}

function checkTime(at: string, date: string, now: number): AwsRejection | undefined {
  const time = Date.parse(
    at.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, "$1-$2-$3T$4:$5:$6Z"),
  );
  if (Number.isNaN(time) || !at.startsWith(date)) return badSignature(MISMATCH);
  if (Math.abs(time - now) <= MAX_SKEW_MS) return undefined;
  const server = new Date(now).toISOString().replace(/[-:]|\.\d+/g, "");
  return badSignature(
    time < now
      ? `Signature expired: ${at} is now earlier than ${server} (less 5 min.)`
      : `Signature not yet current: ${at} is still later than ${server} (plus 5 min.)`,
  );
}

function toCanonical(request: RecordedRequest, names: readonly string[]): string {
  const [path = "", query = ""] = request.path.split("?");
  const headers = names.map((name) => {
    const value = String(request.headers[name] ?? "");
    return `${name}:${value.trim().replace(/\s+/g, " ")}\n`;
  });
  return [
    request.method,
    // The path is encoded already; a signature encodes it once more.
    path.split("/").map(encodeStrict).join("/"),
    query.split("&").sort().join("&"),
    headers.join(""),
    names.join(";"),
    sha256(request.text),
  ].join("\n");
}

function encodeStrict(text: string): string {
  return encodeURIComponent(text).replace(
    /[!'()*]/g,
    (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

function hmac(key: Buffer, text: string): Buffer {
  return createHmac("sha256", key).update(text).digest();
}
