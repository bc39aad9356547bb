/**
 * The setting `server.webhooks`: the endpoints that receive an event when a background response has ended. The
 * operator names the addresses. A client must not: it could have this server call any host, and would have to send it
 * a secret.
 */

import { Failure } from "../../base/failure.ts";
import { isJsonObject, type Json, type JsonObject } from "../../base/json.ts";
import { looksSecret } from "../../base/secret-shapes.ts";
import { clip } from "../../base/text.ts";
import { WEBHOOK_EVENTS } from "../../protocol/webhook-event.ts";
import { checkName } from "./config-models.ts";

const FIELDS: Readonly<Record<string, (at: string, value: Json | undefined) => void>> = {
  url: checkUrl,
  secret_name: checkVariables,
  events: (at, value) => {
    for (const event of checkTexts(at, value)) checkName(at, event, WEBHOOK_EVENTS);
  },
  tenants: checkTexts,
};

/** A part of the ids of runs, and of the names of queues. */
const NAME = /^[A-Za-z0-9_-]{1,40}$/;

/** Returns the map when every row of it is valid. */
export function checkWebhooks(rows: JsonObject, where: string): JsonObject {
  for (const [name, row] of Object.entries(rows)) {
    const at = `${where}: \`${clip(name, 60)}\``;
    if (!NAME.test(name))
      throw invalid(`${at} must be letters, digits, \`-\` and \`_\`, 40 at most.`);
    if (!isJsonObject(row)) throw invalid(`${at} must be a map with \`url\` and \`secret_name\`.`);
    for (const [field, value] of Object.entries(row)) {
      checkName(at, field, Object.keys(FIELDS));
      FIELDS[field]?.(`${at}: \`${field}\``, value);
    }
    for (const field of ["url", "secret_name"]) {
      if (row[field] === undefined) throw invalid(`${at}: \`${field}\` is missing.`);
    }
  }
  return rows;
}

function checkUrl(at: string, value: Json | undefined): void {
  const url = typeof value === "string" && URL.canParse(value) ? new URL(value) : undefined;
  const isWeb = url?.protocol === "https:" || url?.protocol === "http:";
  if (isWeb && url.username === "" && url.password === "") return;
  throw invalid(`${at} must be an https address without a user, as in https://example.com/hooks.`);
}

/** The message does not show the value: it may be the secret itself. */
function checkVariables(at: string, value: Json | undefined): void {
  const names = Array.isArray(value) ? value : [value];
  const isName = (one: Json | undefined): boolean =>
    typeof one === "string" && /^[A-Za-z_]\w*$/.test(one) && !looksSecret(one);
  if (names.length >= 1 && names.length <= 2 && names.every(isName)) return;
  throw invalid(
    `${at} must be the name of an environment variable, not a secret; or two of them while you change it.`,
  );
}

function checkTexts(at: string, value: Json | undefined): readonly string[] {
  const isList = Array.isArray(value) && value.length > 0;
  if (isList && value.every((one) => typeof one === "string")) return value as string[];
  throw invalid(`${at} must be a list of texts.`);
}

function invalid(message: string): Failure {
  return new Failure("invalid_request", message, { param: "server.webhooks" });
}
