/**
 * Replicas and workers of the chaos test, each with a home of its own, like on separate machines: they
 * share a Postgres, and the folder in which they were started. Each is restarted when it ends, like by a
 * supervisor.
 */

import assert from "node:assert/strict";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import type { Place, RunningCommand } from "../command.ts";

export interface Machine {
  readonly name: string;
  /** The URL of a replica that listens; undefined while it does not, and for a worker. */
  readonly url: string | undefined;
  readonly isUp: boolean;
  /** Of the process that it is now. */
  readonly pid: number | undefined;
  /** `kill -9`; it is started again. Resolves when it is gone. */
  kill(): Promise<void>;
  /** `SIGSTOP`: it is stopped until `wake`. */
  freeze(): void;
  wake(): void;
  readonly isFrozen: boolean;
  /** Resolves when it is up. */
  ready(): Promise<void>;
  /** Ends it like an administrator, for good. */
  stop(): Promise<void>;
  /** Ends it at once, for good. */
  end(): Promise<void>;
}

export interface MachineSetup {
  readonly name: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Its output when it is up. */
  readonly up: RegExp;
  /** Called if it ended by itself, which must not happen. */
  readonly onFault: (fault: string) => void;
}

/** The output of a process that ends because the database is unavailable, which it may. */
const AWAY = /does not answer|is locked by another program/;
/** A supervisor waits, so that it is not busy all the time while the database is unavailable. */
const AGAIN_MS = 200;

export async function startMachine(place: Place, setup: MachineSetup): Promise<Machine> {
  const machine = new OneMachine(place, setup);
  await mkdir(machine.home, { recursive: true });
  void machine.run();
  await machine.ready();
  return machine;
}

class OneMachine implements Machine {
  readonly name: string;
  readonly home: string;
  readonly #place: Place;
  readonly #setup: MachineSetup;
  #command: RunningCommand | undefined;
  #url: string | undefined;
  #isUp = false;
  #isFrozen = false;
  #isKilled = false;
  #isStopped = false;
  #waiting: (() => void)[] = [];

  constructor(place: Place, setup: MachineSetup) {
    this.name = setup.name;
    this.home = join(place.home, setup.name);
    this.#place = place;
    this.#setup = setup;
  }

  get url(): string | undefined {
    return this.#url;
  }

  get isUp(): boolean {
    return this.#isUp;
  }

  get pid(): number | undefined {
    return this.#command?.child.pid;
  }

  get isFrozen(): boolean {
    return this.#isFrozen;
  }

  /** Restarts it until it is stopped. */
  async run(): Promise<void> {
    const { args, env, onFault } = this.#setup;
    while (!this.#isStopped) {
      this.#isKilled = false;
      const command = this.#place.start(args, { env: { ...env, HOME: this.home } });
      this.#command = command;
      this.#watch(command);
      const { code, signal, stderr } = await command.ended.catch((thrown: Error) => ({
        code: null,
        signal: null,
        stderr: thrown.message,
      }));
      this.#down();
      if (this.#isKilled || this.#isStopped) continue;
      if (!AWAY.test(stderr)) onFault(`${this.name} ended by itself: ${code} ${signal}\n${stderr}`);
      await setTimeout(AGAIN_MS);
    }
  }

  async kill(): Promise<void> {
    const command = this.#command;
    this.#isKilled = true;
    this.#down();
    command?.child.kill("SIGKILL");
    await command?.ended.catch(() => {});
  }

  freeze(): void {
    this.#isFrozen = true;
    this.#command?.child.kill("SIGSTOP");
  }

  wake(): void {
    this.#isFrozen = false;
    this.#command?.child.kill("SIGCONT");
  }

  async ready(): Promise<void> {
    if (this.#isUp) return;
    await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    const command = this.#command;
    command?.child.kill("SIGTERM");
    const { code, stderr } = (await command?.ended) ?? assert.fail(`${this.name} never ran`);
    assert.equal(code, 0, `${this.name}: ${stderr}`);
  }

  async end(): Promise<void> {
    this.#isStopped = true;
    await this.kill();
  }

  #watch(command: RunningCommand): void {
    command.child.stderr?.on("data", () => {
      if (this.#isUp || this.#isKilled || this.#command !== command) return;
      const found = this.#setup.up.exec(command.stderr);
      if (!found) return;
      this.#url = found[1];
      this.#isUp = true;
      for (const resolve of this.#waiting.splice(0)) resolve();
    });
  }

  #down(): void {
    this.#isUp = false;
    this.#isFrozen = false;
    this.#url = undefined;
  }
}
