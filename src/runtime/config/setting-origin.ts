/** Names the place of a setting in the message that refuses its value, so that the user knows what to change. */

import { Failure } from "../../base/failure.ts";
import type { Config } from "./config.ts";
import type { ConfigName } from "./config-keys.ts";

/**
 * Calls `use` with a failure of it named by the variable or the file that `name` comes from. A flag is not named: the
 * user has just written it, or chose the value in a chat.
 */
export async function withOrigin<Result>(
  config: Pick<Config, "sourceOf">,
  name: ConfigName,
  use: () => Result | Promise<Result>,
): Promise<Result> {
  try {
    return await use();
  } catch (thrown) {
    const source = config.sourceOf(name);
    const isSaid = source === "default" || source.startsWith("--");
    if (isSaid || !(thrown instanceof Failure) || thrown.code !== "invalid_request") throw thrown;
    if (thrown.param !== undefined && thrown.param !== name) throw thrown;
    const origin = source.startsWith("OFFSHOOT_") ? `\`${source}\`` : `\`${name}\` (${source})`;
    const message = `${origin}: ${thrown.message}`;
    throw new Failure(thrown.code, message, { param: thrown.param, cause: thrown });
  }
}
