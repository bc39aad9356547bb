/** `offshoot doctor`: checks this installation and suggests fixes. */

import { createRedact, findSecrets } from "../../base/redact.ts";
import type { RunCommand } from "../command.ts";
import type { DoctorCheck } from "../doctor-check.ts";
import { runChecks } from "../doctor-checks.ts";

/** Exit code 1 if something is broken. A gap is not an error. */
export const run: RunCommand = async ({ options }, io) => {
  const checks = await runChecks(io);
  const text = options["json"] ? `${JSON.stringify({ checks }, null, 2)}\n` : renderChecks(checks);
  await io.stdout.write(createRedact(findSecrets(io.env))(text));
  return checks.some(({ status }) => status === "broken") ? 1 : 0;
};

const MARKS = { ok: "ok  ", gap: "gap ", broken: "BAD " } as const;

export function renderChecks(checks: readonly DoctorCheck[]): string {
  const width = Math.max(...checks.map(({ name }) => name.length));
  const lines = checks.flatMap(({ name, status, found, advice }) => [
    `${MARKS[status]} ${name.padEnd(width)}  ${found}`,
    ...(advice === undefined ? [] : [`${" ".repeat(width + 7)}${advice}`]),
  ]);
  return `${lines.join("\n")}\n`;
}
