/** In which order the deployments of a name are asked. Pure, but for the chance it is given. */

import type { DeploymentHealth } from "./health.ts";

export interface Choosable {
  readonly label: string;
  readonly weight: number;
  readonly isFallback: boolean;
  readonly health: DeploymentHealth;
}

interface Choosing {
  /** Asked first where it may be: it answered the turn before. */
  readonly stay: string | undefined;
  /** 0 to 1. */
  readonly random: () => number;
}

/**
 * Those that are ready by their weights, then ready fallbacks in their order, then, because a guess is
 * better than a refusal, those that cool down. One that asked for a wait is not among them.
 */
export function chooseDeployments<One extends Choosable>(
  all: readonly One[],
  { stay, random }: Choosing,
): One[] {
  const ready = all.filter(({ health }) => health.isReady);
  const cooling = all.filter(({ health }) => !health.isReady && health.askedWaitMs === 0);
  const ordered = [...inTurn(ready, random), ...inTurn(cooling, random)];
  const first = ready.find(({ label }) => label === stay);
  return first ? [first, ...ordered.filter((one) => one !== first)] : ordered;
}

function inTurn<One extends Choosable>(all: readonly One[], random: () => number): One[] {
  const usual = all.filter(({ isFallback }) => !isFallback);
  return [...shuffle(usual, random), ...all.filter(({ isFallback }) => isFallback)];
}

/** Each place goes to one of those that are left, by their weights. */
function shuffle<One extends Choosable>(all: readonly One[], random: () => number): One[] {
  const left = [...all];
  const ordered: One[] = [];
  while (left.length > 1) {
    const sum = left.reduce((total, { weight }) => total + weight, 0);
    let point = random() * sum;
    const found = left.findIndex(({ weight }) => {
      point -= weight;
      return point < 0;
    });
    // Sums of fractions may miss the last one by a hair.
    const [next] = left.splice(found < 0 ? left.length - 1 : found, 1);
    if (next) ordered.push(next);
  }
  return [...ordered, ...left];
}
