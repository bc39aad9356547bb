/** Clients and gateways of other projects, which are installed in `test/clients` when a bench needs them. */

import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

// From build/bench/ up to the checkout.
const require = createRequire(new URL("../../test/clients/package.json", import.meta.url));

/** Imports a package of `test/clients`. Its types are not checked here: benches use little of them. */
export async function importClient<Module>(name: string): Promise<Module> {
  return (await import(pathToFileURL(require.resolve(name)).href)) as Module;
}

export function requireClient<Module>(name: string): Module {
  return require(name) as Module;
}
