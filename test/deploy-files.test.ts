/** The files of deploy/, as far as they can be checked without Docker and systemd. */

import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { describe, it } from "node:test";
import { Script } from "node:vm";
import { parse } from "yaml";
import { COMMANDS } from "../src/cli/commands.ts";
import { SERVER_KEYS } from "../src/runtime/config/config-server-keys.ts";
import { WATCHED } from "../src/server/path-prefix.ts";

const ROOT = new URL("../../", import.meta.url);
const DEPLOY = new URL("deploy/", ROOT);
const read = (name: string): string => readFileSync(new URL(name, DEPLOY), "utf8");

const PACKAGE = JSON.parse(readFileSync(new URL("package.json", ROOT), "utf8")) as {
  readonly name: string;
  readonly bin: Readonly<Record<string, string>>;
  readonly engines: { readonly node: string };
};
const DRAIN_SECONDS = Number(SERVER_KEYS["server.drain_seconds"].default);

/** The words of a command of ours: its program, a row of the commands, and flags of that row. */
function checkCommand([program = "", name = "", ...words]: readonly string[]): void {
  assert.ok(Object.hasOwn(PACKAGE.bin, program.split("/").at(-1) ?? ""), program);
  const { options } = COMMANDS[name] ?? assert.fail(`There is no command ${name}.`);
  const flags = words.filter((word) => word.startsWith("--")).map((word) => word.slice(2));
  for (const flag of flags) assert.ok(Object.hasOwn(options, flag), `--${flag}`);
}

describe("the Dockerfile", () => {
  const INSTRUCTIONS = "FROM RUN ENV USER WORKDIR EXPOSE HEALTHCHECK CMD".split(" ");
  const lines = read("Dockerfile").trim().split("\n");
  const argumentsOf = (instruction: string): string =>
    lines.find((line) => line.startsWith(`${instruction} `))?.slice(instruction.length + 1) ??
    assert.fail(`no ${instruction}`);

  it("has instructions that Docker knows, and begins with its image", () => {
    const named = lines.map((line) => line.split(" ", 1)[0] ?? "");
    assert.deepEqual(
      named.filter((name) => !INSTRUCTIONS.includes(name)),
      [],
    );
    assert.equal(named[0], "FROM");
  });

  it("installs this package on a Node.js that it runs on", () => {
    assert.match(read("Dockerfile"), new RegExp(`npm install --global ${PACKAGE.name} `));
    const major = Number(/^node:(\d+)/.exec(argumentsOf("FROM"))?.[1]);
    assert.ok(major >= Number(/\d+/.exec(PACKAGE.engines.node)?.[0]), `${major}`);
  });

  it("starts a command of ours, and asks an address that answers without a key at its port", () => {
    checkCommand(JSON.parse(argumentsOf("CMD")) as string[]);
    const [, , program = ""] = JSON.parse(argumentsOf("HEALTHCHECK CMD")) as string[];
    assert.ok(new Script(program), "it is a program");
    const { port, pathname } = new URL(/'(http[^']*)'/.exec(program)?.[1] ?? "");
    assert.equal(port, argumentsOf("EXPOSE"));
    assert.ok(WATCHED.has(pathname), pathname);
  });
});

describe("the compose file of one machine", () => {
  interface Service {
    readonly build: string;
    readonly volumes: readonly string[];
    readonly ports: readonly string[];
    readonly env_file: string;
    readonly stop_grace_period: string;
  }
  const KNOWN = "build init restart stop_grace_period env_file volumes ports logging".split(" ");
  const file = parse(read("compose.sqlite.yaml")) as {
    readonly services: Readonly<Record<string, Service>>;
    readonly volumes: object;
  };

  for (const [name, service] of Object.entries(file.services)) {
    it(`has a service of known fields, whose files are there: ${name}`, () => {
      assert.deepEqual(
        Object.keys(service).filter((key) => !KNOWN.includes(key)),
        [],
      );
      assert.ok(existsSync(new URL(`${service.build}/Dockerfile`, DEPLOY)));
      for (const volume of service.volumes) {
        const [source = "", target = ""] = volume.split(":");
        assert.ok(read("Dockerfile").includes(target), target);
        const isThere = source.startsWith(".")
          ? existsSync(new URL(source, DEPLOY))
          : Object.hasOwn(file.volumes, source);
        assert.ok(isThere, source);
      }
    });

    it(`names a file of keys that the instructions create: ${name}`, () => {
      const page = readFileSync(new URL("docs/server.md", ROOT), "utf8");
      const section = page.slice(page.indexOf("**Containers.**"), page.indexOf("**Proxies.**"));
      assert.ok(section.includes(`\`${service.env_file}\``), service.env_file);
    });

    it(`waits for longer than the server drains: ${name}`, () => {
      assert.ok(Number.parseInt(service.stop_grace_period, 10) > DRAIN_SECONDS);
    });
  }
});

describe("the compose file with Postgres", () => {
  interface Service {
    readonly image?: string;
    readonly build?: string;
    readonly command?: readonly string[];
    readonly read_only?: boolean;
    readonly volumes?: readonly string[];
    readonly env_file?: string;
    readonly environment?: Readonly<Record<string, string>>;
    readonly stop_grace_period?: string;
    readonly deploy?: { readonly replicas: number };
    readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>;
  }
  const KNOWN =
    "image build command init restart read_only cap_drop security_opt tmpfs stop_grace_period env_file environment volumes logging ports deploy depends_on healthcheck shm_size".split(
      " ",
    );
  const file = parse(read("compose.yaml"), { merge: true }) as {
    readonly services: Readonly<Record<string, Service>>;
    readonly volumes: object;
  };
  const { services } = file;
  const ours = Object.entries(services).filter(([, service]) => service.build === ".");

  it("has a database, a migration, three servers, a worker and a proxy", () => {
    const names = ["db", "migrate", "serve", "worker", "proxy"];
    assert.deepEqual(Object.keys(services), names);
    assert.equal(services["serve"]?.deploy?.replicas, 3);
    for (const name of ["serve", "worker"]) {
      const condition = services[name]?.depends_on?.["migrate"]?.condition;
      assert.equal(condition, "service_completed_successfully", name);
    }
  });

  for (const [name, service] of Object.entries(services)) {
    it(`has a service of known fields, whose files are there: ${name}`, () => {
      assert.deepEqual(
        Object.keys(service).filter((key) => !KNOWN.includes(key)),
        [],
      );
      for (const volume of service.volumes ?? []) {
        const [source = ""] = volume.split(":");
        const isThere = source.startsWith(".")
          ? existsSync(new URL(source, DEPLOY))
          : Object.hasOwn(file.volumes, source);
        assert.ok(isThere, source);
      }
    });
  }

  for (const [name, service] of ours) {
    it(`starts a command of ours that writes to no file system, and lets it drain: ${name}`, () => {
      checkCommand(service.command ?? []);
      assert.equal(service.read_only, true);
      assert.ok(Number.parseInt(service.stop_grace_period ?? "", 10) > DRAIN_SECONDS);
      const address = new URL(service.environment?.["OFFSHOOT_STORE"] ?? "");
      assert.deepEqual([address.hostname, address.password], ["db", ""]);
      assert.match(service.environment?.["PGPASSWORD"] ?? "", /^\$\{POSTGRES_PASSWORD:\?/);
    });
  }

  it("tells the reader which files to write", () => {
    const page = readFileSync(new URL("docs/scaling.md", ROOT), "utf8");
    for (const name of ["keys.env", ".env", "POSTGRES_PASSWORD"]) assert.ok(page.includes(name));
  });

  it("has a proxy that asks for the servers at their port, and buffers nothing", () => {
    const nginx = read("nginx.conf");
    const target = new URL(/set \$replicas (\S+);/.exec(nginx)?.[1] ?? "");
    assert.equal(target.hostname, "serve");
    assert.match(read("Dockerfile"), new RegExp(`^EXPOSE ${target.port}$`, "m"));
    assert.match(nginx, /proxy_buffering off;/);
    const published = String((services["proxy"] as { ports?: readonly string[] }).ports?.[0]);
    assert.equal(published.split(":").at(-1), /listen (\d+);/.exec(nginx)?.[1]);
  });
});

describe("the systemd unit", () => {
  const unit = read("offshoot.service");
  const settingOf = (name: string): string =>
    new RegExp(`^${name}=(.*)$`, "m").exec(unit)?.[1] ?? assert.fail(`no ${name}`);

  it("has sections and lines of the form that systemd reads", () => {
    const wrong = unit.split("\n").filter((line) => !/^($|#|\[\w+\]$|[A-Z]\w*=\S)/.test(line));
    assert.deepEqual(wrong, []);
    assert.deepEqual(unit.match(/^\[\w+\]$/gm), ["[Unit]", "[Service]", "[Install]"]);
  });

  it("starts a command of ours, and waits for longer than it drains", () => {
    checkCommand(settingOf("ExecStart").split(" "));
    assert.ok(Number(settingOf("TimeoutStopSec")) > DRAIN_SECONDS);
  });
});
