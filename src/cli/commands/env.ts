/**
 * `offshoot env CLIENT`: prints what a client needs to use this machine's server in place of its vendor, for a shell
 * (`eval "$(offshoot env claude)"`) or for the client's own settings file. It names the variable with the key and
 * never prints a key.
 */

import { Failure } from "../../base/failure.ts";
import { clip } from "../../base/text.ts";
import type { Config } from "../../runtime/config/config.ts";
import { toModelOverrides } from "../../runtime/config/config-models.ts";
import { catalogOf } from "../../runtime/model-address.ts";
import { toPlannedModel } from "../../runtime/planned-model.ts";
import { toNamedModels } from "../../runtime/served-models/model-names.ts";
import { routeModel } from "../../runtime/served-models/model-routes.ts";
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
  const { url } = options;
  const hasKey = Boolean(io.env["OFFSHOOT_SERVER_KEY"]);
  const model = typeof options["model"] === "string" ? options["model"] : config.get("model");
  await io.stdout.write(
    render({
      url: typeof url === "string" ? checkUrl(url) : toServerUrl(config),
      model: model ?? undefined,
      windowTokens: model ? findWindow(config, model) : undefined,
      key: hasKey ? '"$OFFSHOOT_SERVER_KEY"' : PLACEHOLDER,
    }),
  );
  // On standard error, because a shell evaluates what is on standard output.
  if (!hasKey && client !== "codex") await io.stderr.write(HOW_TO_SET_KEY);
  return 0;
}

const PLACEHOLDER = "osk_PUT_YOUR_KEY_HERE";
const HOW_TO_SET_KEY = `offshoot: replace ${PLACEHOLDER} with the key that \`offshoot serve\` printed, or set OFFSHOOT_SERVER_KEY to it first.\n`;

interface Served {
  /** The address, without `/v1` at its end. */
  readonly url: string;
  readonly model: string | undefined;
  /** The size of the model's window; undefined if it is not known. */
  readonly windowTokens: number | undefined;
  /** The key in the syntax of a shell. */
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
 * All sizes of Claude are mapped to the one model, else the client would ask for its vendor's names. So would a
 * subagent whose file names a model of Claude: its variable wins over the file. The window is given so that the client
 * compacts in time: it would assume Claude's.
 */
function toClaude({ url, model, windowTokens, key }: Served): string {
  const sizes = SIZES.map((size) => `ANTHROPIC_DEFAULT_${size}_MODEL`);
  const all = ["ANTHROPIC_MODEL", ...sizes, "CLAUDE_CODE_SUBAGENT_MODEL"];
  const named = model === undefined ? [] : all;
  return toExports([
    ["ANTHROPIC_BASE_URL", url],
    ["ANTHROPIC_AUTH_TOKEN", key],
    ...named.map((variable): Pair => [variable, model ?? ""]),
    ...(windowTokens === undefined
      ? []
      : [
          ["CLAUDE_CODE_MAX_CONTEXT_TOKENS", String(windowTokens)] as const,
          ["CLAUDE_CODE_AUTO_COMPACT_WINDOW", String(windowTokens)] as const,
        ]),
    ["CLAUDE_CODE_ATTRIBUTION_HEADER", "0"],
  ]);
}

const SIZES = ["FABLE", "OPUS", "SONNET", "HAIKU"] as const;

/** The server's own names for models are known from its settings. A server elsewhere may have other names. */
function findWindow(config: Config, name: string): number | undefined {
  const catalog = catalogOf(config);
  const overrides = toModelOverrides(config.get("models"));
  const named = toNamedModels(config.get("server.models"), catalog);
  try {
    const { model, url } = routeModel({ named, usual: undefined, catalog }, name);
    return toPlannedModel(model, url, { catalog, overrides }).contextTokens;
  } catch {
    // A name that only the server knows is printed too: nothing is known of it here.
    return undefined;
  }
}

/** Lines for `~/.codex/config.toml`: codex does not read the address from a variable. */
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

/**
 * A word without special characters needs no quotes. A reference to a variable is quoted already.
 */
function toShellWord(value: string): string {
  if (/^[\w./:@%+=,-]+$|^"\$\w+"$/.test(value)) return value;
  return `'${value.replaceAll("'", "'\\''")}'`;
}

function toServerUrl(config: Config): string {
  const host = config.get("server.host");
  const port = config.get("server.port");
  if (port === 0) {
    const message =
      "`server.port` is 0, so the port is not known before the server runs. Give its address with `--url`.";
    throw new Failure("invalid_request", message);
  }
  const scheme = config.get("server.tls_cert") ? "https" : "http";
  return `${scheme}://${toReachable(host)}:${port}${parsePathPrefix(config.get("server.path_prefix"))}`;
}

/** An address that means all addresses cannot be asked; this machine's own can. */
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
    `\`--url\` is \`${clip(url, 80)}\`, which is not an address. Use http://HOST:PORT, as \`offshoot serve\` prints it.`,
  );
}
