/** The row of `offshoot audit` in the table of commands. */

import type { Command } from "./command.ts";
import { STORE_OPTION } from "./store-option.ts";

export const AUDIT_COMMAND: Command = {
  summary: "Show which key asked a server for what: changes and refusals, without their words",
  usage: "[list]",
  options: {
    ...STORE_OPTION,
    key: { type: "string", value: "NAME|ID", summary: "requests of this key" },
    tenant: { type: "string", value: "NAME", summary: "requests of this tenant" },
    day: { type: "string", value: "DAY", summary: "of a day (UTC): `today` or `2030-12-31`" },
    route: { type: "string", value: "TEXT", summary: "whose route has this text: `/v1/files`" },
    status: { type: "string", value: "STATUS", summary: "answered with `429`, or any `4xx`" },
    limit: { type: "string", short: "n", value: "N", summary: "how many entries (50)" },
    before: { type: "string", value: "ID", summary: "older than the entry with this id" },
    json: { type: "boolean", summary: "JSON instead of text" },
  },
  subcommands: { list: "The newest entries, one a line" },
  examples: [
    "offshoot audit list",
    "offshoot audit list --key laptop --day today",
    "offshoot audit list --status 4xx --json",
  ],
  load: () => import("./commands/audit.ts"),
};
