/**
 * Finds the region of AWS: first in the variables, then in the profile of the config file, as every tool of
 * AWS does. A model's address and its signature both need it.
 */

import { readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { Failure } from "../../base/failure.ts";
import { clip } from "../../base/text.ts";

type Environment = Readonly<Record<string, string | undefined>>;

export interface RegionSources {
  /** The region in the user's settings. It wins over everything else. */
  readonly region?: string | undefined;
  /** The profile's name; `AWS_PROFILE` or `default` if missing. */
  readonly profile?: string | undefined;
}

/** The region, or undefined if no source names one. */
export function findAwsRegion(env: Environment, sources: RegionSources = {}): string | undefined {
  const given = [sources.region, env["AWS_REGION"], env["AWS_DEFAULT_REGION"]];
  return given.find((region) => region?.trim())?.trim() ?? regionOfProfile(env, sources.profile);
}

/** The region. Throws if no source names one, or if the name is not valid. */
export function requireAwsRegion(env: Environment, sources: RegionSources = {}): string {
  const region = findAwsRegion(env, sources);
  if (region && /^[a-z]{2,}(-[a-z0-9]+)+$/.test(region)) return region;
  const message = region
    ? `\`${clip(region, 40)}\` is not an AWS region. Write it like \`us-east-1\`.`
    : "Bedrock needs a region: set `AWS_REGION`, or `region` in your profile of ~/.aws/config.";
  throw new Failure("invalid_request", message, { param: "region" });
}

/** The address of Bedrock in the selected region. */
export function bedrockBaseUrl(env: Environment, sources: RegionSources = {}): string {
  const region = requireAwsRegion(env, sources);
  const domain = region.startsWith("cn-") ? "amazonaws.com.cn" : "amazonaws.com";
  return `https://bedrock-runtime.${region}.${domain}`;
}

/** The region in the host of an address: `https://bedrock-runtime.eu-west-1.amazonaws.com`. */
export function regionOfUrl(url: string): string | undefined {
  return /bedrock-runtime(?:-fips)?\.([a-z0-9-]+)\./.exec(new URL(url).host)?.[1];
}

function regionOfProfile(env: Environment, given: string | undefined): string | undefined {
  const profile = given ?? (env["AWS_PROFILE"] || "default");
  const home = env["HOME"] || env["USERPROFILE"] || homedir();
  const text = tryRead(env["AWS_CONFIG_FILE"] || join(home, ".aws", "config"));
  let isProfile = false;
  for (const line of text.split(/\r?\n/)) {
    const section = /^\s*\[\s*(?:profile\s+)?["']?(.*?)["']?\s*\]/.exec(line)?.[1];
    if (section !== undefined) isProfile = section === profile;
    const region = /^\s*region\s*=\s*(\S+)/.exec(line)?.[1];
    if (isProfile && region !== undefined) return region;
  }
  return undefined;
}

function tryRead(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    // Most machines have no such file.
    return "";
  }
}
