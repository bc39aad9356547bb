/** Texts that are files of the package, so that people can read them: `prompts/base.md`. */

import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { Failure } from "./failure.ts";

/**
 * Where the folder is, relative to this code: above `dist/`, above `dist/bin` or `dist/lib`, and above a
 * build for tests.
 */
const PLACES = ["../prompts/", "../../prompts/", "../../../prompts/"];

export type OwnText = "base.md" | "delegation.md";

export function readOwnText(name: OwnText): string {
  const files = PLACES.map((place) => fileURLToPath(new URL(`${place}${name}`, import.meta.url)));
  const file = files.find((path) => existsSync(path));
  if (file !== undefined) return readFileSync(file, "utf8").trim();
  const message = `This installation is incomplete: prompts/${name} is missing. Install Offshoot again.`;
  throw new Failure("internal", message);
}
