/**
 * The folder that `npm run test:recordings -- DIR` names. It is not part of the project: `recordings/` holds
 * what real servers sent, a folder for each wire, `oracles/` the published descriptions of the API, and `seeds/`
 * the founding documents.
 */

import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { readFolder, type StreamFolder, type WireFolder } from "../providers/streams.ts";

/** Undefined in every other run: tests then use what the project itself has. */
export const recordingsFolder = process.env["OFFSHOOT_TEST_RECORDINGS"];

export function readRecordings(wire: WireFolder): StreamFolder {
  return readFolder(find(join("recordings", wire)));
}

export function readOracle(name: string): string {
  return readFileSync(find(join("oracles", `${name}.openapi.json`)), "utf8");
}

/** By the number that its name starts with: `004`. */
export function readFoundingDocument(number: string): string {
  const folder = find("seeds");
  const name = readdirSync(folder).find((file) => file.startsWith(`${number}_`));
  return readFileSync(find(join("seeds", name ?? `${number}_*.txt`)), "utf8");
}

function find(path: string): string {
  const found = join(recordingsFolder ?? "", path);
  if (recordingsFolder !== undefined && existsSync(found)) return found;
  throw new Error(
    `${found} does not exist. Run \`npm run test:recordings -- DIR\` with a folder that has it.`,
  );
}
