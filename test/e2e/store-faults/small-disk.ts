/** A database on a disk that is full soon. */

import { execFileSync } from "node:child_process";
import { chmod, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";
import type { Lack } from "../../needs.ts";
import type { PostgresServer } from "../../store/postgres/postgres-server.ts";

const SMALL = "40m";

/** Why a small disk is not available here. */
export async function findMountLack(): Promise<Lack> {
  const folder = await mkdtemp(join(tmpdir(), "offshoot-mount-"));
  try {
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=1m", "none", folder], { stdio: "ignore" });
    execFileSync("umount", [folder]);
    return undefined;
  } catch {
    return "no disk can be mounted";
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** A database on a disk of its own, which can be made larger. */
export async function makeSmall(
  server: PostgresServer,
  t: TestContext,
): Promise<{ address: string; grow(): void }> {
  const folder = await mkdtemp(join(tmpdir(), "offshoot-small-"));
  await chmod(folder, 0o777);
  const mount = (options: string): void =>
    void execFileSync("mount", ["-t", "tmpfs", "-o", options, "none", folder]);
  // In tests as root, Postgres runs as the user nobody.
  mount(`size=${SMALL},uid=65534,gid=65534,mode=700`);
  const address = await server.newAddress();
  const name = new URL(address).pathname.slice(1);
  t.after(async () => {
    await server.query(await server.newAddress(), `drop database ${name} with (force)`);
    await server.query(await server.newAddress(), "drop tablespace small");
    execFileSync("umount", [folder]);
    await rm(folder, { recursive: true, force: true });
  });
  const other = await server.newAddress();
  await server.query(other, `create tablespace small location '${folder}'`);
  await server.query(other, `alter database ${name} set tablespace small`);
  return { address, grow: () => mount("remount,size=400m") };
}
