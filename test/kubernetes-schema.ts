/**
 * The kinds of Kubernetes objects that `deploy/kubernetes` has, as the published API describes them (v1.29 and later),
 * as far as these files use them. Strict: a field that is not here is taken for a slip, as `kubectl` does with
 * `--validate=strict`. A change that uses a new field adds it from the API's reference.
 */

import { z } from "zod";

/** Names of objects: those of DNS labels. */
const Name = z.string().regex(/^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/);
const LabelKey = z
  .string()
  .regex(/^([a-z0-9.-]+\/)?[A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?$/);
const LabelValue = z.string().regex(/^([A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?)?$/);
const Labels = z.record(LabelKey, LabelValue);
const Quantity = z.string().regex(/^\d+(\.\d+)?(m|k|Ki|M|Mi|G|Gi|T|Ti)?$/);
const PortNumber = z.int().min(1).max(65_535);
/** Of a port: at most 15 characters. */
const PortName = z.string().regex(/^[a-z0-9]([a-z0-9-]{0,13}[a-z0-9])?$/);
const PortRef = z.union([PortNumber, PortName]);
const Seconds = z.int().min(0);
const IntOrPercent = z.union([z.int().min(0), z.string().regex(/^\d+%$/)]);

const Metadata = z.strictObject({
  name: Name,
  labels: Labels,
  annotations: z.record(LabelKey, z.string()).optional(),
});
const LabelSelector = z.strictObject({ matchLabels: Labels });

const HttpProbe = z.strictObject({
  httpGet: z.strictObject({ path: z.string().startsWith("/"), port: PortRef }),
  periodSeconds: z.int().min(1).optional(),
  timeoutSeconds: z.int().min(1).optional(),
  failureThreshold: z.int().min(1).optional(),
});

const KeyRef = z.strictObject({ name: Name, key: z.string().regex(/^[-._a-zA-Z0-9]+$/) });
const EnvName = z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/);
const Env = z.strictObject({
  name: EnvName,
  valueFrom: z.union([
    z.strictObject({ configMapKeyRef: KeyRef }),
    z.strictObject({ secretKeyRef: KeyRef }),
  ]),
});

const Container = z.strictObject({
  name: Name,
  image: z.string().regex(/^[\w.-]+(\/[\w.-]+)+:[\w.-]+$/),
  command: z.array(z.string()).min(1),
  ports: z.array(z.strictObject({ name: PortName, containerPort: PortNumber })).optional(),
  envFrom: z.array(z.strictObject({ secretRef: z.strictObject({ name: Name }) })).optional(),
  env: z.array(Env).optional(),
  startupProbe: HttpProbe.optional(),
  readinessProbe: HttpProbe.optional(),
  livenessProbe: HttpProbe.optional(),
  lifecycle: z
    .strictObject({
      preStop: z.strictObject({ exec: z.strictObject({ command: z.array(z.string()).min(1) }) }),
    })
    .optional(),
  resources: z.strictObject({
    requests: z.strictObject({ cpu: Quantity, memory: Quantity }),
    limits: z.strictObject({ cpu: Quantity.optional(), memory: Quantity }),
  }),
  securityContext: z.strictObject({
    allowPrivilegeEscalation: z.boolean(),
    readOnlyRootFilesystem: z.boolean(),
    capabilities: z.strictObject({ drop: z.array(z.string()) }),
  }),
  volumeMounts: z.array(
    z.strictObject({
      name: Name,
      mountPath: z.string().startsWith("/"),
      readOnly: z.boolean().optional(),
    }),
  ),
});

const Volume = z.union([
  z.strictObject({ name: Name, emptyDir: z.strictObject({}) }),
  z.strictObject({
    name: Name,
    configMap: z.strictObject({
      name: Name,
      items: z.array(z.strictObject({ key: z.string(), path: z.string() })),
    }),
  }),
]);

const PodSpec = z.strictObject({
  restartPolicy: z.enum(["Always", "OnFailure", "Never"]).optional(),
  terminationGracePeriodSeconds: Seconds.optional(),
  serviceAccountName: Name,
  automountServiceAccountToken: z.boolean(),
  securityContext: z.strictObject({
    runAsNonRoot: z.boolean(),
    runAsUser: z.int().min(0),
    runAsGroup: z.int().min(0),
    fsGroup: z.int().min(0),
    seccompProfile: z.strictObject({ type: z.enum(["RuntimeDefault", "Unconfined", "Localhost"]) }),
  }),
  topologySpreadConstraints: z
    .array(
      z.strictObject({
        maxSkew: z.int().min(1),
        topologyKey: LabelKey,
        whenUnsatisfiable: z.enum(["DoNotSchedule", "ScheduleAnyway"]),
        labelSelector: LabelSelector,
      }),
    )
    .optional(),
  containers: z.array(Container).min(1),
  volumes: z.array(Volume),
});
export type PodSpec = z.infer<typeof PodSpec>;

const PodTemplate = z.strictObject({
  metadata: z.strictObject({ labels: Labels }),
  spec: PodSpec,
});

const Deployment = z.strictObject({
  apiVersion: z.literal("apps/v1"),
  kind: z.literal("Deployment"),
  metadata: Metadata,
  spec: z.strictObject({
    replicas: z.int().min(0).optional(),
    selector: LabelSelector,
    strategy: z.strictObject({
      type: z.literal("RollingUpdate"),
      rollingUpdate: z.strictObject({ maxSurge: IntOrPercent, maxUnavailable: IntOrPercent }),
    }),
    template: PodTemplate,
  }),
});

const Job = z.strictObject({
  apiVersion: z.literal("batch/v1"),
  kind: z.literal("Job"),
  metadata: Metadata,
  spec: z.strictObject({
    backoffLimit: z.int().min(0),
    ttlSecondsAfterFinished: Seconds,
    template: PodTemplate,
  }),
});

const Service = z.strictObject({
  apiVersion: z.literal("v1"),
  kind: z.literal("Service"),
  metadata: Metadata,
  spec: z.strictObject({
    selector: Labels,
    ports: z.array(z.strictObject({ name: PortName, port: PortNumber, targetPort: PortRef })),
  }),
});

const Backend = z.strictObject({
  service: z.strictObject({ name: Name, port: z.strictObject({ name: PortName }) }),
});

const Ingress = z.strictObject({
  apiVersion: z.literal("networking.k8s.io/v1"),
  kind: z.literal("Ingress"),
  metadata: Metadata,
  spec: z.strictObject({
    ingressClassName: Name,
    tls: z.array(z.strictObject({ hosts: z.array(z.string()), secretName: Name })),
    rules: z.array(
      z.strictObject({
        host: z.string(),
        http: z.strictObject({
          paths: z.array(
            z.strictObject({
              path: z.string().startsWith("/"),
              pathType: z.enum(["Prefix", "Exact", "ImplementationSpecific"]),
              backend: Backend,
            }),
          ),
        }),
      }),
    ),
  }),
});

const PodDisruptionBudget = z.strictObject({
  apiVersion: z.literal("policy/v1"),
  kind: z.literal("PodDisruptionBudget"),
  metadata: Metadata,
  spec: z.union([
    z.strictObject({ minAvailable: IntOrPercent, selector: LabelSelector }),
    z.strictObject({ maxUnavailable: IntOrPercent, selector: LabelSelector }),
  ]),
});

const HorizontalPodAutoscaler = z.strictObject({
  apiVersion: z.literal("autoscaling/v2"),
  kind: z.literal("HorizontalPodAutoscaler"),
  metadata: Metadata,
  spec: z.strictObject({
    scaleTargetRef: z.strictObject({ apiVersion: z.string(), kind: z.string(), name: Name }),
    minReplicas: z.int().min(1),
    maxReplicas: z.int().min(1),
    metrics: z.array(
      z.strictObject({
        type: z.literal("Resource"),
        resource: z.strictObject({
          name: z.enum(["cpu", "memory"]),
          target: z.strictObject({
            type: z.literal("Utilization"),
            averageUtilization: z.int().min(1),
          }),
        }),
      }),
    ),
    behavior: z.strictObject({
      scaleDown: z.strictObject({
        stabilizationWindowSeconds: z.int().min(0).max(3600),
        policies: z.array(
          z.strictObject({
            type: z.enum(["Pods", "Percent"]),
            value: z.int().min(1),
            periodSeconds: z.int().min(1).max(1800),
          }),
        ),
      }),
    }),
  }),
});

const ConfigMap = z.strictObject({
  apiVersion: z.literal("v1"),
  kind: z.literal("ConfigMap"),
  metadata: Metadata,
  data: z.record(z.string(), z.string()),
});

const ServiceAccount = z.strictObject({
  apiVersion: z.literal("v1"),
  kind: z.literal("ServiceAccount"),
  metadata: Metadata,
  automountServiceAccountToken: z.boolean(),
});

export const KubernetesObject = z.discriminatedUnion("kind", [
  Deployment,
  Job,
  Service,
  Ingress,
  PodDisruptionBudget,
  HorizontalPodAutoscaler,
  ConfigMap,
  ServiceAccount,
]);
export type KubernetesObject = z.infer<typeof KubernetesObject>;
export type ObjectOf<Kind extends KubernetesObject["kind"]> = Extract<
  KubernetesObject,
  { readonly kind: Kind }
>;
