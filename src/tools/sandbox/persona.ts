/**
 * The made-up identity that a client's commands see: a user, a home, a machine and a `PATH` that are the
 * same on every server. A hosted shell gets these, so that it learns nothing about the server's operator.
 */

/** The folders of a usual system, and those of NixOS, which has no others. */
const PATH = "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin:/run/current-system/sw/bin";

export const PERSONA = { uid: 1000, hostname: "container", home: "/home/user" } as const;

export const PERSONA_VARIABLES: Readonly<Record<string, string>> = {
  PATH,
  HOME: PERSONA.home,
  USER: "user",
  LOGNAME: "user",
  SHELL: "/bin/sh",
  LANG: "C.UTF-8",
};

/** Files that replace the machine's own in `/etc`, with their texts. */
export const PERSONA_FILES: Readonly<Record<string, string>> = {
  "/etc/passwd": [
    "root:x:0:0:root:/root:/bin/sh",
    `user:x:${PERSONA.uid}:${PERSONA.uid}::${PERSONA.home}:/bin/sh`,
    "nobody:x:65534:65534:nobody:/nonexistent:/bin/sh\n",
  ].join("\n"),
  "/etc/group": ["root:x:0:", `user:x:${PERSONA.uid}:`, "nogroup:x:65534:\n"].join("\n"),
  "/etc/hosts": "127.0.0.1 localhost container\n::1 localhost\n",
};
