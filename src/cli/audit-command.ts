/** The row of `offshoot audit` in the table of commands. */

import type { CliCommand } from "./command.ts";
import { STORE_OPTION } from "./store-option.ts";

export const AUDIT_COMMAND: CliCommand = {
  summary: "Show which key changed what on a server, and which requests were refused",
  usage: "[list]",
  options: {
    ...STORE_OPTION,
    key: { type: "string", value: "NAME|ID", summary: "requests of this key" },
    tenant: { type: "string", value: "NAME", summary: "requests of this tenant" },
    day: {
      type: "string",
      value: "DAY",
      summary: "requests of a day (UTC): `today` or `2030-12-31`",
    },
    route: {
      type: "string",
      value: "TEXT",
      summary: "requests whose route contains this text: `/v1/files`",
    },
    status: {
      type: "string",
      value: "STATUS",
      summary: "requests answered with `429`, or any `4xx`",
    },
    limit: { type: "string", short: "n", value: "N", summary: "how many entries (50)" },
    before: { type: "string", value: "ID", summary: "entries older than the one with this id" },
    json: { type: "boolean", summary: "JSON instead of text" },
  },
  subcommands: { list: "List the newest entries, one on each line" },
  examples: [
    "offshoot audit list",
    "offshoot audit list --key laptop --day today",
    "offshoot audit list --status 4xx --json",
  ],
  load: () => import("./commands/audit.ts"),
};
