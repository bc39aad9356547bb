/** A server that wants a person to log in: told as a failure that the commands know again. */

import { Failure } from "../../../base/failure.ts";

/** What such a server answers with. */
const UNAUTHORIZED = "401";

export function needsLogin(server: string): Failure {
  const message = `The MCP server \`${server}\` asks for a login. Run \`offshoot mcp login ${server}\`.`;
  return new Failure("key_missing", message, { vendorCode: UNAUTHORIZED });
}

export function isLoginNeeded({ code, vendorCode }: Failure): boolean {
  return code === "key_missing" && vendorCode === UNAUTHORIZED;
}
