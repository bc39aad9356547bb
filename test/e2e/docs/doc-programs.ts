/**
 * Programs that the docs name and that are not part of this project. The tests put a stand-in for each on the path:
 * it uses what it is given as the real program would, and fails if that does not work.
 */

import { chmod, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { ROOT } from "../../doc-blocks.ts";

const INITIALIZE = JSON.stringify({
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: {
    protocolVersion: "2025-06-18",
    capabilities: {},
    clientInfo: { name: "docs", version: "1" },
  },
});
const ACCEPTS =
  '-H "content-type: application/json" -H "accept: application/json, text/event-stream"';

/** `mcp add`: connects to the server that it is given, as a program or as an address. */
const MCP_ADD = `[ "$1 $2" = "mcp add" ] || exit 2
shift 2
if [ "$1" = --transport ]; then
  [ "$2 $5" = "http --header" ] || exit 2
  curl "$4" -H "$6" ${ACCEPTS} -d '${INITIALIZE}' | grep -q serverInfo
else
  [ "$2" = -- ] || exit 2
  shift 2
  printf '%s\\n' '${INITIALIZE}' | "$@" | grep -q serverInfo
fi`;

const PROGRAMS: Readonly<Record<string, string>> = {
  az: `case "$1" in
  login) ;;
  account) echo '{"accessToken": "eyJ0eXAi.eyJhIjoxfQ.c2ln", "expires_on": 4000000000}' ;;
  *) exit 2 ;;
esac`,
  // Without words it asks one question, with the variables that Claude Code reads.
  claude: `if [ $# = 0 ]; then
  curl "$ANTHROPIC_BASE_URL/v1/messages" -H "authorization: Bearer $ANTHROPIC_AUTH_TOKEN" \\
    -H "anthropic-version: 2023-06-01" -H "content-type: application/json" \\
    -d "{\\"model\\": \\"$ANTHROPIC_MODEL\\", \\"max_tokens\\": 100, \\"messages\\": [{\\"role\\": \\"user\\", \\"content\\": \\"Hi\\"}]}"
  exit
fi
${MCP_ADD}`,
  codex: MCP_ADD,
  // The tests make the databases.
  createdb: '[ "$*" = offshoot ]',
  // It installs nothing: the package must be the one that the clone has.
  npm: `[ "$1" = install ] || exit 2
name=\${2%@*}
grep -q "\\"version\\": \\"\${2##*@}\\"" "${ROOT}node_modules/$name/package.json"`,
  npx: `case "$1" in
  -y) exec "${process.execPath}" "${ROOT}test/e2e/fixtures/small-mcp-server.mjs" ;;
  openapi-typescript) curl "$2" > "$4" && grep -q '"openapi"' "$4" ;;
  *) exit 2 ;;
esac`,
  "xdg-open": "exit 0",
};

/** Puts them into a folder of the path, with a setting of curl that makes it fail where a server refuses. */
export async function putPrograms(home: string): Promise<void> {
  const folder = join(home, "bin");
  await mkdir(folder, { recursive: true });
  for (const [name, script] of Object.entries(PROGRAMS)) {
    await writeFile(join(folder, name), `#!/bin/sh\n${script}\n`);
    await chmod(join(folder, name), 0o755);
  }
  await writeFile(join(home, ".curlrc"), "fail-with-body\nsilent\nshow-error\n");
}
