/** The failure of a server that requires a login, which the commands recognize. */

import { Failure } from "../../../base/failure.ts";

/** The code with which such a server answers. */
const UNAUTHORIZED = "401";

export function needsLogin(server: string): Failure {
  const message = `The MCP server \`${server}\` asks for a login. Run \`offshoot mcp login ${server}\`.`;
  return new Failure("key_missing", message, { vendorCode: UNAUTHORIZED });
}

export function isLoginNeeded({ code, vendorCode }: Failure): boolean {
  return code === "key_missing" && vendorCode === UNAUTHORIZED;
}
