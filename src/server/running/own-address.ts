/**
 * Finds models that a server would ask at its own address. A request for one would wait for itself until it times
 * out, so a server with such a model is refused. Also says where the usual model is asked.
 */

import { networkInterfaces } from "node:os";
import type { Environment } from "../../base/environment.ts";
import { Failure } from "../../base/failure.ts";
import { type MovedTo, movedTo, toShownUrl } from "../../providers/vendors/base-url.ts";
import type { Catalog } from "../../providers/vendors/catalog.ts";
import type { ModelTarget } from "../../responses/models/model-target.ts";
import { toCatalog } from "../../runtime/config/config-vendors.ts";
import type { LoadedServer } from "./generation.ts";

export interface OwnAddress {
  readonly host: string;
  readonly port: number;
}

/** An address at which models are asked, and the setting or variable that says so. */
interface AskedAt {
  readonly setBy: string;
  readonly url: string;
}

/**
 * Rejects with `invalid_request` if a model is asked at the server's own address. With port 0, that is not known
 * before the server listens.
 */
export function refuseOwnAddress(loaded: LoadedServer, own: OwnAddress): void {
  if (own.port === 0) return;
  const found = listAddresses(loaded).find(({ url }) => isOwn(url, own));
  if (!found) return;
  const { setBy, url } = found;
  const message = `${setBy} (${toShownUrl(url)}) is the address of this server, so it would ask itself for an answer. Change or remove it, or serve at another \`--port\`.`;
  throw new Failure("invalid_request", message, { param: "url" });
}

/** The part about models in the line that says where the server listens. */
export function toModelNote(loaded: LoadedServer): string {
  const { usual, own } = loaded;
  if (!usual) return own ? `, models of ${toShownUrl(own.url)}` : "";
  if (usual.url !== null) return `, model ${usual.model} at ${toShownUrl(usual.url)}`;
  const moved = movedOf(usual.model, loaded, toCatalog(loaded.runtime.vendors));
  const place = moved ? ` at ${toShownUrl(moved.url)} (${moved.variable})` : "";
  return `, model ${usual.model}${place}`;
}

/** As the listener writes it: `http://127.0.0.1:8484`. */
export function toOwnAddress(listening: string): OwnAddress {
  const url = new URL(listening);
  return { host: url.hostname, port: portOf(url) };
}

/** A request can name any vendor, so each vendor that a variable or a setting moves counts. */
function listAddresses(loaded: LoadedServer): AskedAt[] {
  const { settings, usual, own } = loaded;
  const catalog = toCatalog(loaded.runtime.vendors);
  const env = loaded.runtime.env ?? {};
  const { images, embeddings } = settings.hosted;
  const at = (target: ModelTarget): string => addressOf(target, env, catalog);
  return [
    ...(own ? [{ setBy: "`url`", url: own.url }] : []),
    ...(usual ? [{ setBy: usual.url ? "`url`" : `\`${usual.model}\``, url: at(usual) }] : []),
    ...settings.named.flatMap(([name, target]) =>
      [target, ...(target.deployments ?? [])].map((one) => ({
        setBy: `\`server.models\`, \`${name}\``,
        url: at(one),
      })),
    ),
    ...(images ? [{ setBy: "`server.image_url`", url: images.url }] : []),
    ...(embeddings ? [{ setBy: "`server.embeddings_url`", url: embeddings.url }] : []),
    ...catalog.own.map((name) => ({
      setBy: `\`vendors.${name}.url\``,
      url: catalog.of(name).baseUrl,
    })),
    ...catalog.names.flatMap((name) => {
      const moved = movedTo(name, env, catalog);
      return moved ? [{ setBy: `\`${moved.variable}\``, url: moved.url }] : [];
    }),
  ];
}

/**
 * A model without an address is asked at its vendor's, and a local vendor's address may be this server's.
 */
function addressOf({ model, url }: ModelTarget, env: Environment, catalog: Catalog): string {
  const vendor = vendorOf(model);
  if (url !== null) return url;
  // A vendor that was moved is listed separately, with the name of the variable.
  if (!catalog.has(vendor) || movedTo(vendor, env, catalog)) return "";
  return catalog.of(vendor).baseUrl;
}

function movedOf(model: string, { runtime }: LoadedServer, catalog: Catalog): MovedTo | undefined {
  const vendor = vendorOf(model);
  return catalog.has(vendor) ? movedTo(vendor, runtime.env ?? {}, catalog) : undefined;
}

function vendorOf(model: string): string {
  return model.slice(0, Math.max(0, model.indexOf("/")));
}

function isOwn(text: string, { host, port }: OwnAddress): boolean {
  if (!URL.canParse(text)) return false;
  const url = new URL(text);
  if (portOf(url) !== port) return false;
  const asked = toPlain(url.hostname);
  const listening = toPlain(host);
  if (asked === listening) return true;
  if (isLoopback(asked) && isLoopback(listening)) return true;
  return EVERYWHERE.includes(listening) && ownHosts().includes(asked);
}

/**
 * A server that listens on one of these listens on all addresses of the machine. As the address of a request, each
 * means the machine itself.
 */
const EVERYWHERE = ["0.0.0.0", "::"];

function isLoopback(host: string): boolean {
  return ["localhost", "::1", ...EVERYWHERE].includes(host) || /^127\./.test(host);
}

function ownHosts(): string[] {
  return Object.values(networkInterfaces()).flatMap((found) =>
    (found ?? []).map(({ address }) => address),
  );
}

function toPlain(host: string): string {
  return host.replace(/^\[|\]$/g, "").toLowerCase();
}

function portOf({ port, protocol }: URL): number {
  if (port !== "") return Number(port);
  return protocol === "https:" ? 443 : 80;
}
