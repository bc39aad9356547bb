/**
 * Chooses the order in which the deployments of a name are asked. Pure, except for the random numbers it
 * gets.
 */

import type { DeploymentHealth } from "./health.ts";

export interface Choosable {
  readonly label: string;
  readonly weight: number;
  readonly isFallback: boolean;
  readonly health: DeploymentHealth;
}

interface Choosing {
  /** The deployment that answered the turn before. It is asked first, if it may be asked. */
  readonly stay: string | undefined;
  /** Between 0 and 1. */
  readonly random: () => number;
}

/**
 * Orders deployments: first those that are ready, by their weights, then ready fallbacks in their order,
 * then those that cool down, because an attempt is better than a refusal. A deployment that asked for a
 * wait is left out.
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

/** Fills each position at random from the deployments that are left, by their weights. */
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
    // A sum of fractions may be slightly too small for the last one.
    const [next] = left.splice(found < 0 ? left.length - 1 : found, 1);
    if (next) ordered.push(next);
  }
  return [...ordered, ...left];
}
