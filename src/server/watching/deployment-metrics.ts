/** The health of deployments, for names with several, as this process sees it. */

import { type Cooldown, processHealths } from "../../providers/deployments/health.ts";
import type { Registry, Sample } from "./metrics.ts";

interface Watching {
  /** Identifies the process: each finds out for itself. */
  readonly worker: string;
  /** Called for each deployment that is not asked for a while. */
  readonly onCooldown: (cooldown: Cooldown) => void;
}

/** Call the returned function to stop the reports. */
export function watchDeployments(
  { gauge }: Registry,
  { worker, onCooldown }: Watching,
): () => void {
  const read = (toValue: (health: Health) => number): readonly Sample[] =>
    processHealths.report().map((health) => {
      return { labels: { deployment: health.label, worker }, value: toValue(health) };
    });
  gauge(
    "offshoot_deployment_ready",
    "1 while the deployment is used as usual, 0 while it cools down.",
    () => read(({ isReady }) => (isReady ? 1 : 0)),
  );
  gauge("offshoot_deployment_failures", "Failed attempts since the process started.", () =>
    read(({ failures }) => failures),
  );
  gauge(
    "offshoot_deployment_cooldown_seconds",
    "Seconds until the deployment is used first again.",
    () => read(({ waitMs }) => waitMs / 1000),
  );
  return processHealths.watch(onCooldown);
}

type Health = ReturnType<typeof processHealths.report>[number];
