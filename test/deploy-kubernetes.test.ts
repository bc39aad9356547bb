/** The manifests of deploy/kubernetes: valid by their schema, fitting together, and fitting the server. */

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { describe, it } from "node:test";
import { parse, parseAllDocuments } from "yaml";
import { COMMANDS } from "../src/cli/commands.ts";
import { WATCHED } from "../src/server/path-prefix.ts";
import { KubernetesObject, type ObjectOf, type PodSpec } from "./kubernetes-schema.ts";

const ROOT = new URL("../../", import.meta.url);
const FOLDER = new URL("deploy/kubernetes/", ROOT);
const FILES = readdirSync(FOLDER).filter((name) => name.endsWith(".yaml"));

/** The documents of a file, as they stand there. */
function readDocuments(file: string): unknown[] {
  const text = readFileSync(new URL(file, FOLDER), "utf8");
  return parseAllDocuments(text).map((document) => {
    assert.deepEqual(document.errors, []);
    return document.toJS() as unknown;
  });
}

const OBJECTS = FILES.flatMap(readDocuments).map((document) => KubernetesObject.parse(document));

function all<Kind extends KubernetesObject["kind"]>(kind: Kind): ObjectOf<Kind>[] {
  return OBJECTS.filter((object): object is ObjectOf<Kind> => object.kind === kind);
}

interface Pods {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly spec: PodSpec;
}

const PODS: readonly Pods[] = [...all("Deployment"), ...all("Job")].map(({ metadata, spec }) => ({
  name: metadata.name,
  labels: spec.template.metadata.labels,
  spec: spec.template.spec,
}));

/** Whose labels a selector fits. */
function podsOf(selector: Readonly<Record<string, string>>): string[] {
  const fits = ({ labels }: Pods): boolean =>
    Object.entries(selector).every(([key, value]) => labels[key] === value);
  return PODS.filter(fits).map(({ name }) => name);
}

interface ServerConfig {
  readonly server: {
    readonly port: number;
    readonly drain_seconds: number;
    readonly hosts: readonly string[];
  };
}

const [CONFIG_MAP = assert.fail()] = all("ConfigMap");
const CONFIG = parse(CONFIG_MAP.data["config.yaml"] ?? "") as ServerConfig;

describe("the manifests of deploy/kubernetes", () => {
  it("are what a rollout needs", () => {
    const kinds = OBJECTS.map(({ kind, metadata }) => `${kind} ${metadata.name}`).sort();
    assert.deepEqual(kinds, [
      "ConfigMap offshoot",
      "Deployment offshoot",
      "Deployment offshoot-worker",
      "HorizontalPodAutoscaler offshoot",
      "Ingress offshoot",
      "Job offshoot-migrate",
      "PodDisruptionBudget offshoot",
      "PodDisruptionBudget offshoot-worker",
      "Service offshoot",
      "ServiceAccount offshoot",
    ]);
  });

  it("are refused by their schema with a field that is misspelled", () => {
    const [document] = readDocuments("serve.yaml");
    const text = JSON.stringify(document);
    for (const field of ["livenessProbe", "runAsNonRoot", "maxUnavailable", "emptyDir"]) {
      assert.ok(text.includes(`"${field}"`), field);
      const misspelled: unknown = JSON.parse(text.replace(`"${field}"`, `"${field}s"`));
      assert.equal(KubernetesObject.safeParse(misspelled).success, false, field);
    }
  });

  it("hold no secret: they refer to one that the instructions create", () => {
    assert.deepEqual(
      OBJECTS.filter(({ kind }) => String(kind) === "Secret"),
      [],
    );
    const page = readFileSync(new URL("docs/scaling.md", ROOT), "utf8");
    assert.match(page, /kubectl create secret generic offshoot /);
    assert.ok(!new URL(CONFIG_MAP.data["OFFSHOOT_STORE"] ?? "").password);
  });

  for (const { name, spec } of PODS) {
    it(`run without root, and write to no file system but their own folders: ${name}`, () => {
      const { securityContext, automountServiceAccountToken, containers, volumes } = spec;
      assert.ok(securityContext.runAsNonRoot && securityContext.runAsUser > 0);
      assert.equal(securityContext.seccompProfile.type, "RuntimeDefault");
      assert.equal(automountServiceAccountToken, false);
      assert.ok(readFileSync(new URL("deploy/Dockerfile", ROOT), "utf8").includes("USER 10001"));
      assert.equal(securityContext.runAsUser, 10_001);
      for (const { securityContext: held, volumeMounts } of containers) {
        assert.ok(held.readOnlyRootFilesystem && !held.allowPrivilegeEscalation);
        assert.deepEqual(held.capabilities.drop, ["ALL"]);
        const named = volumes.map((volume) => volume.name);
        assert.deepEqual(volumeMounts.map((mount) => mount.name).sort(), named.sort());
      }
    });

    it(`start a command of ours with what it needs: ${name}`, () => {
      const [{ command, env = [], envFrom = [] } = assert.fail()] = spec.containers;
      const [program, word = "", ...words] = command;
      assert.equal(program, "offshoot");
      const { options } = COMMANDS[word] ?? assert.fail(word);
      const flags = words.filter((flag) => flag.startsWith("--")).map((flag) => flag.slice(2));
      for (const flag of flags) assert.ok(Object.hasOwn(options, flag), flag);
      assert.ok(env.some((variable) => variable.name === "OFFSHOOT_STORE"));
      const hasPassword = env.some((variable) => variable.name === "PGPASSWORD");
      assert.ok(hasPassword || envFrom.length > 0, "the password comes from the secret");
    });
  }

  it("have one version of the program", () => {
    const images = new Set(PODS.flatMap(({ spec }) => spec.containers.map(({ image }) => image)));
    assert.equal(images.size, 1);
  });

  it("give servers and workers the time that they drain", () => {
    for (const { spec } of all("Deployment")) {
      const { terminationGracePeriodSeconds = 0, containers } = spec.template.spec;
      const [, seconds = "0"] = containers[0]?.lifecycle?.preStop.exec.command ?? [];
      assert.ok(terminationGracePeriodSeconds > CONFIG.server.drain_seconds + Number(seconds));
    }
  });

  it("ask addresses that answer without a key, at the port of the settings", () => {
    const [serve = assert.fail()] = PODS.filter(({ name }) => name === "offshoot");
    const [container = assert.fail()] = serve.spec.containers;
    const { startupProbe, readinessProbe, livenessProbe, ports = [] } = container;
    const paths = [startupProbe, readinessProbe, livenessProbe].map((probe) => probe?.httpGet.path);
    assert.deepEqual(paths, ["/healthz", "/readyz", "/healthz"]);
    for (const path of paths) assert.ok(WATCHED.has(path ?? ""), path);
    assert.equal(ports[0]?.containerPort, CONFIG.server.port);
    for (const probe of [startupProbe, readinessProbe, livenessProbe]) {
      assert.equal(probe?.httpGet.port, ports[0]?.name);
    }
  });

  it("select the pods that they are about", () => {
    for (const { metadata, spec } of all("Deployment")) {
      assert.deepEqual(podsOf(spec.selector.matchLabels), [metadata.name]);
    }
    const [service = assert.fail()] = all("Service");
    assert.deepEqual(podsOf(service.spec.selector), ["offshoot"]);
    for (const { metadata, spec } of all("PodDisruptionBudget")) {
      assert.deepEqual(podsOf(spec.selector.matchLabels), [metadata.name]);
    }
    const [scaler = assert.fail()] = all("HorizontalPodAutoscaler");
    assert.equal(scaler.spec.scaleTargetRef.name, "offshoot");
    const [ingress = assert.fail()] = all("Ingress");
    const [rule = assert.fail()] = ingress.spec.rules;
    assert.equal(rule.http.paths[0]?.backend.service.name, service.metadata.name);
    assert.deepEqual([rule.host], CONFIG.server.hosts, "the server answers to the name");
  });

  it("let a drain continue while others answer", () => {
    const [budget = assert.fail()] = all("PodDisruptionBudget").filter(
      ({ metadata }) => metadata.name === "offshoot",
    );
    const [scaler = assert.fail()] = all("HorizontalPodAutoscaler");
    const least = "minAvailable" in budget.spec ? Number(budget.spec.minAvailable) : 0;
    assert.ok(least < scaler.spec.minReplicas, "a node can be emptied");
    assert.ok(scaler.spec.minReplicas <= scaler.spec.maxReplicas);
  });
});
