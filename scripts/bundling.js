/** What both bundles share: the packages that are not bundled, and the licenses of those that are. */

import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, sep } from "node:path";

/**
 * Installed beside the product instead of bundled: what has binaries or data files of its own, zod, whose schemas
 * users hand over, and what few use.
 */
export const INSTALLED = [
  /^@dbos-inc\/dbos-sdk$/,
  /^@photostructure\/sqlite$/,
  /^@vscode\/ripgrep$/,
  /^node-llama-cpp$/,
  /^pyodide/,
  /^unpdf$/,
  /^zod$/,
  /^node:/,
];

/** Writes the licenses of all bundled packages beside the bundle, as they ask for. */
export function bundledLicenses() {
  return {
    name: "bundled-licenses",
    generateBundle(_options, bundle) {
      const modules = Object.values(bundle).flatMap((file) => Object.keys(file.modules ?? {}));
      const folders = new Set(modules.map(packageFolder).filter((folder) => folder !== undefined));
      const source = [...folders]
        .sort()
        .map(licenseOf)
        .join(`\n${"-".repeat(72)}\n\n`);
      this.emitFile({ type: "asset", fileName: "THIRD-PARTY-LICENSES.txt", source });
    },
  };
}

/** `…/node_modules/@scope/name` of a module's path; undefined for one of the project's own. */
function packageFolder(module) {
  const parts = module.replace(/^\0/, "").split("?")[0].split(/[\\/]/);
  const at = parts.lastIndexOf("node_modules");
  if (at < 0) return undefined;
  const length = parts[at + 1]?.startsWith("@") ? 3 : 2;
  return parts.slice(0, at + length).join(sep);
}

function licenseOf(folder) {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const file = readdirSync(folder).find((entry) => /^(licen[cs]e|copying)/i.test(entry));
  const text =
    file && existsSync(join(folder, file)) ? readFileSync(join(folder, file), "utf8") : "";
  return `${name} ${version} (${license ?? "see its text"})\n\n${text.trim()}\n`;
}
