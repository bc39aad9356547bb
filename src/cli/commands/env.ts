/**
 * `offshoot env CLIENT`: what a client needs to ask this machine's server in place of its vendor, to be read by a
 * shell (`eval "$(offshoot env claude)"`) or put in the client's own file. It names the variable that has the key and
 * never prints a key.
 */

import { Failure } from "../../base/failure.ts";
import { clip } from "../../base/text.ts";
import { findModel } from "../../providers/models/models.ts";
import type { Config } from "../../runtime/config/config.ts";
import { parsePathPrefix } from "../../server/path-prefix.ts";
import type { CommandCall } from "../command.ts";
import type { Io } from "../io.ts";
import { openConfig } from "../open-config.ts";

export async function run({ words, options }: CommandCall, io: Io): Promise<number> {
  const [client = "", ...more] = words;
  const render = Object.hasOwn(CLIENTS, client) ? CLIENTS[client] : undefined;
  if (!render || more.length > 0) {
    const named = client === "" ? "Name a client" : `Unknown client \`${clip(client, 40)}\``;
    const message = `${named}. Available: ${Object.keys(CLIENTS).join(", ")}.`;
    throw new Failure("invalid_request", message);
  }
  const config = await openConfig({}, io);
  const { url, model } = options;
  await io.stdout.write(
    render({
      url: typeof url === "string" ? checkUrl(url) : toServerUrl(config),
      model: typeof model === "string" ? model : (config.get("model") ?? undefined),
      key: io.env["OFFSHOOT_SERVER_KEY"] ? '"$OFFSHOOT_SERVER_KEY"' : "osk_PUT_YOUR_KEY_HERE",
    }),
  );
  return 0;
}

interface Served {
  /** Without `/v1` at its end. */
  readonly url: string;
  readonly model: string | undefined;
  /** As a shell reads it. */
  readonly key: string;
}

const CLIENTS: Readonly<Record<string, (served: Served) => string>> = {
  claude: toClaude,
  codex: toCodex,
  openai: ({ url, key }) =>
    toExports([
      ["OPENAI_BASE_URL", `${url}/v1`],
      ["OPENAI_API_KEY", key],
    ]),
};

/**
 * The names of all sizes of Claude stand for the one model, or the client would ask for its vendor's. What is said
 * of the window makes it compact in time; its own guess is that of Claude.
 */
function toClaude({ url, model, key }: Served): string {
  const [vendor = "", ...name] = (model ?? "").split("/");
  const { contextTokens } = findModel(vendor, name.join("/"));
  const sizes = ["OPUS", "SONNET", "HAIKU"].map((size) => `ANTHROPIC_DEFAULT_${size}_MODEL`);
  const named = model === undefined ? [] : ["ANTHROPIC_MODEL", ...sizes];
  return toExports([
    ["ANTHROPIC_BASE_URL", url],
    ["ANTHROPIC_AUTH_TOKEN", key],
    ...named.map((variable): Pair => [variable, model ?? ""]),
    ...(contextTokens === undefined
      ? []
      : [
          ["CLAUDE_CODE_MAX_CONTEXT_TOKENS", String(contextTokens)] as const,
          ["CLAUDE_CODE_AUTO_COMPACT_WINDOW", String(contextTokens)] as const,
        ]),
    ["CLAUDE_CODE_ATTRIBUTION_HEADER", "0"],
  ]);
}

/** For `~/.codex/config.toml`: codex does not read the address from a variable. */
function toCodex({ url, model }: Served): string {
  const asked = model === undefined ? "" : `model = ${JSON.stringify(model)}\n`;
  return `# ~/.codex/config.toml
${asked}model_provider = "offshoot"

[model_providers.offshoot]
name = "Offshoot"
base_url = ${JSON.stringify(`${url}/v1`)}
env_key = "OPENAI_API_KEY"
wire_api = "responses"
`;
}

type Pair = readonly [string, string];

function toExports(pairs: readonly Pair[]): string {
  return pairs.map(([name, value]) => `export ${name}=${toShellWord(value)}\n`).join("");
}

/** A word of letters that no shell reads otherwise stands bare; a reference to a variable is quoted already. */
function toShellWord(value: string): string {
  if (/^[\w./:@%+=,-]+$|^"\$\w+"$/.test(value)) return value;
  return `'${value.replaceAll("'", "'\\''")}'`;
}

function toServerUrl(config: Config): string {
  const host = config.get("server.host");
  const port = config.get("server.port");
  if (port === 0) {
    const message =
      "`server.port` is 0, so nobody knows it before the server runs. Give its address with `--url`.";
    throw new Failure("invalid_request", message);
  }
  const scheme = config.get("server.tls_cert") ? "https" : "http";
  return `${scheme}://${toReachable(host)}:${port}${parsePathPrefix(config.get("server.path_prefix"))}`;
}

/** Every address of the machine is no address; this machine is one of them. */
function toReachable(host: string): string {
  if (host === "0.0.0.0" || host === "::") return "127.0.0.1";
  return host.includes(":") ? `[${host}]` : host;
}

function checkUrl(url: string): string {
  if (URL.canParse(url) && /^https?:$/.test(new URL(url).protocol)) {
    return url.replace(/\/+$/, "").replace(/\/v1$/, "");
  }
  throw new Failure(
    "invalid_request",
    `\`--url\` is \`${clip(url, 80)}\`, which is no address. Use http://HOST:PORT, as \`offshoot serve\` prints it.`,
  );
}
