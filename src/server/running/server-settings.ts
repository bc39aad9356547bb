/** Makes the settings for the parts of a server from the configuration. */

import { NO_LIMITS } from "../../agent/limits.ts";
import { Failure } from "../../base/failure.ts";
import type { CooldownSettings } from "../../providers/deployments/health.ts";
import type { BackingSettings } from "../../responses/kinds/mcp-backing.ts";
import type { SizeLimits } from "../../responses/request/check-size.ts";
import type { Config } from "../../runtime/config/config.ts";
import { toStoreAddress } from "../../runtime/config/store-address.ts";
import { catalogOf } from "../../runtime/model-address.ts";
import type { ResponsesSettings } from "../../runtime/open-responses.ts";
import { toNamedModels } from "../../runtime/served-models/model-names.ts";
import type { ModelRoutes } from "../../runtime/served-models/model-routes.ts";
import { toLimits } from "../../runtime/settings.ts";
import type { GuardSettings } from "../guard/create-guard.ts";
import type { McpDoorSettings } from "../mcp/http-door.ts";
import { parsePathPrefix } from "../path-prefix.ts";
import type { BodyLimits } from "../read-body.ts";
import type { SendSettings } from "../send-answer.ts";
import type { LogFormat } from "../watching/request-log.ts";
import { type HostedSettings, toHostedSettings } from "./hosted-settings.ts";
import type { SocketLimits } from "./listener.ts";
import type { TlsFiles } from "./tls.ts";
import { toWebhookEndpoints } from "./webhook-endpoints.ts";

export interface ServerSettings {
  readonly host: string;
  /** 0 for any free port. */
  readonly port: number;
  readonly workers: number;
  /** The path before all addresses; empty for none. */
  readonly pathPrefix: string;
  readonly tls: TlsFiles | undefined;
  /**
   * Whether to serve the console. `auto`: only if the server is reached from this machine alone, or over HTTPS.
   */
  readonly console: "auto" | "on" | "off";
  readonly socket: SocketLimits;
  readonly body: BodyLimits;
  readonly size: SizeLimits;
  readonly send: SendSettings;
  /** Without the tools, whose patterns need names that the runtime knows. */
  readonly guard: Omit<GuardSettings, "catalogue">;
  /** Names or patterns of the server's own tools that clients may use. */
  readonly tools: readonly string[];
  readonly named: ModelRoutes["named"];
  /** For how long a deployment that failed is not asked. */
  readonly cooldown: CooldownSettings;
  readonly responses: Omit<ResponsesSettings, "models" | "sealKey">;
  readonly hosted: HostedSettings;
  readonly mcp: Pick<McpDoorSettings, "waitMs" | "approvalWaitMs">;
  readonly log: LogFormat;
  readonly drainMs: number;
  /** How long entries of the audit are kept; null for ever. */
  readonly auditKeptMs: number | null;
  /** Address of the record; undefined for memory. */
  readonly storePath: string | undefined;
  /** A record of up to this size is checked before the server listens; a larger one afterwards. */
  readonly startCheckBytes: number;
}

interface Surroundings {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  readonly stderr: { readonly isTerminal: boolean };
  /**
   * True if responses are stored only when the request says so, whatever the settings files say.
   */
  readonly noStore: boolean;
}

/** Rejects with `invalid_request` settings that contradict each other. */
export function toServerSettings(config: Config, around: Surroundings): ServerSettings {
  const storePath = toStoreAddress(config, around.env);
  const settings: ServerSettings = {
    host: config.get("server.host"),
    port: config.get("server.port"),
    workers: config.get("server.workers"),
    pathPrefix: parsePathPrefix(config.get("server.path_prefix")),
    tls: toTlsFiles(config),
    console: config.get("server.console") as ServerSettings["console"],
    socket: toSocketLimits(config),
    body: {
      maxBytes: config.get("server.max_body_bytes"),
      timeoutMs: config.get("server.body_seconds") * 1000,
    },
    size: {
      maxItems: config.get("server.max_items"),
      maxTools: config.get("server.max_tools"),
      maxImageBytes: config.get("server.max_image_bytes"),
    },
    send: {
      keepAliveMs: config.get("server.stream_comment_seconds") * 1000,
      commitMs: COMMIT_MS,
    },
    guard: toGuardSettings(config, around),
    tools: config.get("server.tools"),
    named: toNamedModels(config.get("server.models"), catalogOf(config)),
    cooldown: {
      failures: config.get("server.cooldown_failures"),
      cooldownMs: config.get("server.cooldown_seconds") * 1000,
    },
    responses: {
      ...toResponses(config, around),
      webhooks: toWebhookEndpoints(config.get("server.webhooks"), {
        env: around.env,
        privateHosts: config.get("web_private_hosts"),
      }),
    },
    hosted: toHostedSettings(config),
    mcp: {
      waitMs: config.get("server.mcp_wait_seconds") * 1000,
      approvalWaitMs: toMs(config.get("server.mcp_approval_seconds")),
    },
    log: config.get("server.log") ?? (around.stderr.isTerminal ? "text" : "json"),
    drainMs: config.get("server.drain_seconds") * 1000,
    auditKeptMs: toKeptMs(config.get("server.audit_days")),
    storePath,
    startCheckBytes: config.get("server.start_check_bytes"),
  };
  if (settings.workers > 1 && storePath === undefined) {
    const message = "Several workers share their record, and `store` is off. Use one.";
    throw new Failure("invalid_request", message, { param: "server.workers" });
  }
  return settings;
}

/**
 * A response that fails within this time is an HTTP error and not a stream. Waiting longer would look like a hang.
 */
const COMMIT_MS = 1000;

function toMs(seconds: number | undefined): number | undefined {
  return seconds === undefined ? undefined : seconds * 1000;
}

const DAY_MS = 86_400_000;

/** 0 means for ever. */
function toKeptMs(days: number): number | null {
  return days === 0 ? null : days * DAY_MS;
}

function toResponses(
  config: Config,
  { cwd, noStore }: Surroundings,
): Omit<ResponsesSettings, "models" | "sealKey"> {
  return {
    store: config.get("server.store") && !noStore,
    ttlMs: toKeptMs(config.get("server.keep_days")),
    root: config.get("server.root") ?? cwd,
    maxBackground: config.get("server.max_background"),
    maxQueued: config.get("server.max_queued"),
    promptsDir: config.get("server.prompts_dir"),
    backing: config.get("server.backing") as BackingSettings | undefined,
    nativeTools: config.get("server.native_tools"),
    web: { privateHosts: config.get("web_private_hosts") },
  };
}

function toGuardSettings(config: Config, { env }: Surroundings): ServerSettings["guard"] {
  return {
    auth: config.get("server.auth"),
    host: config.get("server.host"),
    hosts: config.get("server.hosts"),
    origins: config.get("server.origins"),
    fixedToken: env["OFFSHOOT_SERVER_KEY"] || undefined,
    limits: { ...NO_LIMITS, ...toLimits(config) },
    storageBytes: config.get("server.storage_bytes"),
  };
}

function toSocketLimits(config: Config): SocketLimits {
  return {
    headersTimeoutMs: config.get("server.headers_seconds") * 1000,
    requestTimeoutMs: config.get("server.body_seconds") * 1000,
    keepAliveTimeoutMs: config.get("server.keep_alive_seconds") * 1000,
    maxHeaderBytes: config.get("server.max_header_bytes"),
    maxConnections: config.get("server.max_connections"),
  };
}

function toTlsFiles(config: Config): TlsFiles | undefined {
  const cert = config.get("server.tls_cert");
  const key = config.get("server.tls_key");
  const clientCa = config.get("server.tls_client_ca");
  if (cert !== undefined && key !== undefined) return { cert, key, clientCa };
  if (cert === undefined && key === undefined && clientCa === undefined) return undefined;
  const message = "HTTPS needs both `server.tls_cert` and `server.tls_key`.";
  throw new Failure("invalid_request", message);
}
