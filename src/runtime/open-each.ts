/** Opens the deployments of a name, one by one, for any purpose. */

import type { Deployment } from "../agent/task.ts";
import { Failure, toFailure } from "../base/failure.ts";
import { type DeploymentHealth, processHealths } from "../providers/deployments/health.ts";
import { labelDeployments } from "../providers/deployments/label.ts";
import { ONE_TRY } from "../providers/limits/limited-provider.ts";
import type { ModelParts } from "./open-sign.ts";

/** Opens one of them; rejects with what is missing or wrong. */
export type OpenOne<Known> = (one: Deployment, parts: ModelParts) => Promise<Known>;

export interface EachOpened<Known> {
  readonly one: Deployment;
  readonly label: string;
  readonly health: DeploymentHealth;
  readonly known: Known;
}

/** Rejects if none of them can be opened. A deployment without its key is never asked. */
export async function openEach<Known>(
  deployments: readonly Deployment[],
  parts: ModelParts,
  openOne: OpenOne<Known>,
): Promise<readonly EachOpened<Known>[]> {
  // Tries are counted over all deployments: each of them is asked once at a time.
  const alone = { ...parts, retry: ONE_TRY };
  const labels = labelDeployments(deployments);
  const found = await Promise.all(
    deployments.map(async (one, at): Promise<EachOpened<Known> | Failure> => {
      const label = labels[at] ?? one.model;
      const health = healthOf(one, label, parts);
      try {
        return { one, label, health, known: await openOne(one, alone) };
      } catch (thrown) {
        const failure = toFailure(thrown);
        // A mistake in the settings must not be hidden by another deployment.
        if (failure.code !== "key_missing") throw failure;
        health.begin().end(failure);
        return failure;
      }
    }),
  );
  const opened = found.filter((one): one is EachOpened<Known> => !(one instanceof Failure));
  if (opened.length === 0) throw found.find((one) => one instanceof Failure);
  return opened;
}

function healthOf(
  { model, provider, url, api_key_name }: Deployment,
  label: string,
  { healths = processHealths }: ModelParts,
): DeploymentHealth {
  return healths.of([model, provider, url, api_key_name].join(" "), label);
}
