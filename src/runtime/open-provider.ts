/**
 * A provider over HTTP for a vendor: its row, its wire, who pays, and the limiter all runs of this
 * account share. The one place where keys are read.
 */

import { Failure } from "../base/failure.ts";
import type { Log } from "../base/log.ts";
import { createRedact, findSecrets } from "../base/redact.ts";
import type { RetryPolicy } from "../base/retry.ts";
import { baseUrlOf } from "../providers/base-url.ts";
import { type Vendor, type VendorName, vendorOf } from "../providers/catalog.ts";
import { keyVariableIn } from "../providers/choose-model.ts";
import type { Limiters } from "../providers/limiters.ts";
import type { ModelOverride } from "../providers/models.ts";
import type { ModelRequest, Provider } from "../providers/provider.ts";
import { wireFor } from "../providers/provider-names.ts";
import type { Timeouts, Transport } from "../providers/transport.ts";
import type { Quirks } from "../providers/wire.ts";
import { loadWire } from "../providers/wires.ts";
import { VERSION } from "../version.ts";

/** The part of a task that says which model is meant. */
export interface ModelWish {
  readonly model: string;
  readonly provider: string | null;
  readonly url: string | null;
  readonly api_key_name: string | null;
  readonly think: boolean;
}

export interface ModelParts {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Opened when the first request needs it. */
  readonly transport: () => Promise<Transport>;
  readonly overrides?: readonly ModelOverride[] | undefined;
  readonly timeouts?: Timeouts | undefined;
  readonly retry?: RetryPolicy | undefined;
  readonly quirks?: Quirks | undefined;
  readonly log?: Log | undefined;
  /** Those of the process unless given. */
  readonly limiters?: Limiters | undefined;
}

type Prepare = (request: ModelRequest) => { request: ModelRequest; dropped: readonly string[] };

export async function openHttpProvider(
  name: VendorName,
  wish: ModelWish,
  { prepare, ...parts }: ModelParts & { readonly prepare: Prepare },
): Promise<Provider> {
  const vendor = vendorOf(name);
  const wire = wireFor(name, wish.provider ?? undefined);
  const baseUrl = baseUrlOf(name, { url: wish.url ?? undefined, env: parts.env });
  const key = keyFor(name, wish, parts.env);
  const auth = authHeaders(vendor, key);
  const [{ createHttpProvider }, { limitProvider, ONE_TRY, watchTransport }, limiters] =
    await Promise.all([
      import("../providers/http-provider.ts"),
      import("../providers/limited-provider.ts"),
      parts.limiters ?? import("../providers/limiters.ts").then((all) => all.processLimiters),
    ]);
  const limiter = limiters.of({ vendor: name, baseUrl, key });
  const provider = createHttpProvider({
    vendor: name,
    wire: await loadWire(wire),
    baseUrl,
    headers: { "user-agent": `offshoot/${VERSION}`, ...vendor.headers },
    sign: async () => auth,
    quirks: { ...vendor.quirks, ...parts.quirks },
    transport: watchTransport(await parts.transport(), limiter),
    prepare,
    // Its variable may have a name that says nothing of a key.
    redact: createRedact([...findSecrets(parts.env), key ?? ""]),
    // Tried again outside of it, where a call that waits holds no slot.
    retry: ONE_TRY,
    ...(parts.timeouts ? { timeouts: parts.timeouts } : {}),
    ...(parts.log ? { log: parts.log } : {}),
  });
  return limitProvider(provider, limiter, { retry: parts.retry, log: parts.log });
}

function keyFor(name: VendorName, wish: ModelWish, env: ModelParts["env"]): string | undefined {
  const { keyVariable, keyUrl, local } = vendorOf(name);
  const variable = wish.api_key_name ?? keyVariableIn(name, env);
  const key = variable ? env[variable]?.trim() : undefined;
  if (key) return key;
  if (wish.api_key_name) {
    throw new Failure(
      "key_missing",
      `The variable \`${wish.api_key_name}\` is not set. Put the key there.`,
    );
  }
  // An address of the user's own may need no key; a vendor's own address does.
  if (local || keyVariable === undefined || wish.url) return undefined;
  const where = keyUrl ? ` Get one at ${keyUrl}.` : "";
  throw new Failure(
    "key_missing",
    `\`${name}\` needs a key in \`${keyVariable}\`, which is not set.${where}`,
  );
}

function authHeaders({ auth }: Vendor, key: string | undefined): Record<string, string> {
  if (key === undefined || auth === "none") return {};
  return auth === "api-key" ? { "api-key": key } : { authorization: `Bearer ${key}` };
}
