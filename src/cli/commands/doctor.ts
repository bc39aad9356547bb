/** `offshoot doctor`: what was found here, and what to do about what was not. */

import { createRedact, findSecrets } from "../../base/redact.ts";
import type { RunCommand } from "../command.ts";
import { type Check, runChecks } from "../doctor-checks.ts";

/** Ends with 1 when something is broken; a gap is no failure. */
export const run: RunCommand = async ({ options }, io) => {
  const checks = await runChecks(io);
  const text = options["json"] ? `${JSON.stringify({ checks }, null, 2)}\n` : renderChecks(checks);
  await io.stdout.write(createRedact(findSecrets(io.env))(text));
  return checks.some(({ status }) => status === "broken") ? 1 : 0;
};

const MARKS = { ok: "ok  ", gap: "gap ", broken: "BAD " } as const;

export function renderChecks(checks: readonly Check[]): string {
  const width = Math.max(...checks.map(({ name }) => name.length));
  const lines = checks.flatMap(({ name, status, found, advice }) => [
    `${MARKS[status]} ${name.padEnd(width)}  ${found}`,
    ...(advice === undefined ? [] : [`${" ".repeat(width + 7)}${advice}`]),
  ]);
  return `${lines.join("\n")}\n`;
}
