/** How well the deployments of names with several are, as this process has learned it. */

import { type Cooldown, processHealths } from "../../providers/deployments/health.ts";
import type { Registry, Sample } from "./metrics.ts";

interface Watching {
  /** Tells the processes apart: each finds out for itself. */
  readonly worker: string;
  /** Told of each deployment that is not asked for a while. */
  readonly onCooldown: (cooldown: Cooldown) => void;
}

/** Call what it returns when nobody is to be told any more. */
export function watchDeployments(
  { gauge }: Registry,
  { worker, onCooldown }: Watching,
): () => void {
  const read = (toValue: (health: Health) => number): readonly Sample[] =>
    processHealths.report().map((health) => {
      return { labels: { deployment: health.label, worker }, value: toValue(health) };
    });
  gauge("offshoot_deployment_ready", "1 while it is asked as usual, 0 while it cools down.", () =>
    read(({ isReady }) => (isReady ? 1 : 0)),
  );
  gauge("offshoot_deployment_failures", "Failed tries since the process started.", () =>
    read(({ failures }) => failures),
  );
  gauge("offshoot_deployment_cooldown_seconds", "For how long it is not asked first.", () =>
    read(({ waitMs }) => waitMs / 1000),
  );
  return processHealths.watch(onCooldown);
}

type Health = ReturnType<typeof processHealths.report>[number];
