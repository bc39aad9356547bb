/**
 * The sources of a token of Entra ID: a client secret, a workload identity, the identity of an App Service
 * or of a virtual machine, or the login of a person (`az login`).
 *
 * The first source whose variables are in the environment is the only one used: if it fails, no other is
 * tried, so that a request is never sent under another identity by accident. Without variables, the machine
 * is asked, then `az`.
 */

import { readFile } from "node:fs/promises";
import type { Environment } from "../../base/environment.ts";
import { Failure } from "../../base/failure.ts";
import { tryParseJson } from "../../base/json.ts";
import { findSecrets } from "../../base/redact.ts";
import { clip } from "../../base/text.ts";
import { createTransport } from "../http/transport.ts";
import { readAzureCli } from "./azure-cli.ts";
import {
  askSource,
  type EntraParts,
  type EntraToken,
  readVariable,
  toToken,
} from "./entra-answer.ts";

interface Source {
  /** The name of this source in `AZURE_TOKEN_CREDENTIALS`. */
  readonly name: string;
  readonly stage: "prod" | "dev";
  /** The variables that select this source. If it has none, it is tried. */
  readonly variables: readonly string[];
  readonly get: (scope: string, parts: EntraParts) => Promise<EntraToken>;
}

const SOURCES: readonly Source[] = [
  {
    name: "EnvironmentCredential",
    stage: "prod",
    variables: ["AZURE_TENANT_ID", "AZURE_CLIENT_ID", "AZURE_CLIENT_SECRET"],
    get: fetchBySecret,
  },
  {
    name: "WorkloadIdentityCredential",
    stage: "prod",
    variables: ["AZURE_TENANT_ID", "AZURE_CLIENT_ID", "AZURE_FEDERATED_TOKEN_FILE"],
    get: fetchByAssertion,
  },
  {
    name: "ManagedIdentityCredential",
    stage: "prod",
    variables: ["IDENTITY_ENDPOINT", "IDENTITY_HEADER"],
    get: fetchFromAppService,
  },
  { name: "ManagedIdentityCredential", stage: "prod", variables: [], get: fetchFromMachine },
  { name: "AzureCliCredential", stage: "dev", variables: [], get: fetchFromCli },
];

export async function fetchEntraToken(scope: string, parts: EntraParts): Promise<EntraToken> {
  const { env } = parts;
  const allowed = SOURCES.filter((source) => isAllowed(source, env["AZURE_TOKEN_CREDENTIALS"]));
  const named = allowed.find(({ variables }) => variables.length > 0 && hasAll(env, variables));
  if (named) return await named.get(scope, parts);
  const reasons: string[] = [];
  for (const source of allowed.filter(({ variables }) => variables.length === 0)) {
    try {
      return await source.get(scope, parts);
    } catch (thrown) {
      reasons.push(thrown instanceof Error ? thrown.message : String(thrown));
    }
  }
  throw new Failure(
    "key_missing",
    `Azure needs a key in \`AZURE_OPENAI_API_KEY\`, or an identity of Entra ID. ${reasons.join(" ")} Run \`az login\`, or set \`AZURE_TENANT_ID\`, \`AZURE_CLIENT_ID\` and \`AZURE_CLIENT_SECRET\`.`,
  );
}

function isAllowed({ name, stage }: Source, setting: string | undefined): boolean {
  const word = setting?.trim().toLowerCase();
  return !word || word === stage || word === name.toLowerCase();
}

function hasAll(env: Environment, variables: readonly string[]): boolean {
  return variables.every((name) => env[name]?.trim());
}

function fetchBySecret(scope: string, parts: EntraParts): Promise<EntraToken> {
  return fetchFromEntra(
    { scope, client_secret: readVariable(parts.env, "AZURE_CLIENT_SECRET") },
    parts,
  );
}

/** Reads the file for each token, because its owner replaces it every hour or so. */
async function fetchByAssertion(scope: string, parts: EntraParts): Promise<EntraToken> {
  const path = readVariable(parts.env, "AZURE_FEDERATED_TOKEN_FILE");
  const assertion = await readFile(path, "utf8").catch((cause: unknown) => {
    const message = `\`AZURE_FEDERATED_TOKEN_FILE\` names \`${path}\`, which cannot be read.`;
    throw new Failure("key_missing", message, { cause });
  });
  const client_assertion_type = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";
  return await fetchFromEntra(
    { scope, client_assertion_type, client_assertion: assertion.trim() },
    parts,
  );
}

const AUTHORITY = "https://login.microsoftonline.com";

async function fetchFromEntra(
  proof: Readonly<Record<string, string>>,
  { env, transport, clock }: EntraParts,
): Promise<EntraToken> {
  const authority = env["AZURE_AUTHORITY_HOST"]?.trim().replace(/\/+$/, "") || AUTHORITY;
  checkAuthority(authority);
  const tenant = encodeURIComponent(readVariable(env, "AZURE_TENANT_ID"));
  const client_id = readVariable(env, "AZURE_CLIENT_ID");
  const body = new URLSearchParams({ grant_type: "client_credentials", client_id, ...proof });
  const answer = await askSource(transport, {
    method: "POST",
    url: `${authority}/${tenant}/oauth2/v2.0/token`,
    headers: { "content-type": "application/x-www-form-urlencoded" },
    body: body.toString(),
  });
  const secrets = [...findSecrets(env), ...Object.values(proof)];
  return toToken(answer, { clock, secrets, who: "Entra ID" });
}

/** Checks that the secret is sent over TLS. A server on this machine is the only exception. */
function checkAuthority(authority: string): void {
  const url = URL.canParse(authority) ? new URL(authority) : undefined;
  const isHere = url && ["127.0.0.1", "localhost", "[::1]"].includes(url.hostname);
  if (url?.protocol === "https:" || (url?.protocol === "http:" && isHere)) return;
  const message = `\`AZURE_AUTHORITY_HOST\`: \`${clip(authority, 80)}\` is not an https URL.`;
  throw new Failure("invalid_request", message);
}

function fetchFromAppService(scope: string, parts: EntraParts): Promise<EntraToken> {
  const { env } = parts;
  const endpoint = readVariable(env, "IDENTITY_ENDPOINT");
  const headers = { "x-identity-header": readVariable(env, "IDENTITY_HEADER") };
  return fetchIdentity({ endpoint, headers, version: "2019-08-01", scope }, parts);
}

const MACHINE = "http://169.254.169.254";

function fetchFromMachine(scope: string, parts: EntraParts): Promise<EntraToken> {
  const host = parts.env["AZURE_POD_IDENTITY_AUTHORITY_HOST"]?.trim().replace(/\/+$/, "");
  const endpoint = `${host || MACHINE}/metadata/identity/oauth2/token`;
  const headers = { metadata: "true" };
  return fetchIdentity({ endpoint, headers, version: "2018-02-01", scope }, parts);
}

interface IdentityQuestion {
  readonly endpoint: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly version: string;
  readonly scope: string;
}

/** Asks for the token of a machine's identity. `AZURE_CLIENT_ID` chooses among several identities. */
async function fetchIdentity(
  { endpoint, headers, version, scope }: IdentityQuestion,
  { env, clock }: EntraParts,
): Promise<EntraToken> {
  if (!URL.canParse(endpoint)) {
    throw new Failure("invalid_request", `\`${clip(endpoint, 80)}\` is not a URL of an identity.`);
  }
  const url = new URL(endpoint);
  url.searchParams.set("api-version", version);
  url.searchParams.set("resource", toResource(scope));
  const client = env["AZURE_CLIENT_ID"]?.trim();
  if (client) url.searchParams.set("client_id", client);
  // The endpoint is on this machine, so the proxies of the environment are not used.
  const direct = createTransport({});
  try {
    const answer = await askSource(direct, {
      method: "GET",
      url: url.href,
      headers,
      body: undefined,
    });
    const secrets = [...findSecrets(env), ...Object.values(headers)];
    return toToken(answer, { clock, secrets, who: `The identity at ${url.host}` });
  } finally {
    await direct.close();
  }
}

async function fetchFromCli(scope: string, { env, clock }: EntraParts): Promise<EntraToken> {
  const text = await readAzureCli(toResource(scope), env);
  return toToken({ status: 200, body: tryParseJson(text) }, { clock, secrets: [], who: "`az`" });
}

/** The older endpoints take the name of the service, the newer ones the scope. */
function toResource(scope: string): string {
  return scope.replace(/\/\.default$/, "");
}
