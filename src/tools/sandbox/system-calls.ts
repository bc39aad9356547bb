/**
 * Numbers of the system calls that the sandbox's filter knows, for each processor.
 *
 * From 424 on the kernel gives a call the same number everywhere. A call without a number for a processor
 * does not exist there.
 */

export type FilteredArch = "x64" | "arm64";

type Numbers = Readonly<Record<FilteredArch, number>>;

const same = (number: number): Numbers => ({ x64: number, arm64: number });

/** Refused whatever their arguments. Grouped by what a command could do with them. */
export const REFUSED_CALLS = {
  // Mounts and namespaces: a new view of the machine.
  mount: { x64: 165, arm64: 40 },
  umount2: { x64: 166, arm64: 39 },
  pivot_root: { x64: 155, arm64: 41 },
  chroot: { x64: 161, arm64: 51 },
  setns: { x64: 308, arm64: 268 },
  open_tree: same(428),
  move_mount: same(429),
  fsopen: same(430),
  fsconfig: same(431),
  fsmount: same(432),
  fspick: same(433),
  mount_setattr: same(442),
  open_tree_attr: same(467),
  statmount: same(457),
  listmount: same(458),
  open_by_handle_at: { x64: 304, arm64: 265 },
  // Memory and files of other processes.
  process_vm_readv: { x64: 310, arm64: 270 },
  process_vm_writev: { x64: 311, arm64: 271 },
  pidfd_getfd: same(438),
  // Key rings belong to a user, not to a namespace.
  add_key: { x64: 248, arm64: 217 },
  request_key: { x64: 249, arm64: 218 },
  keyctl: { x64: 250, arm64: 219 },
  // Parts of the kernel with many past vulnerabilities, which commands do not need.
  bpf: { x64: 321, arm64: 280 },
  perf_event_open: { x64: 298, arm64: 241 },
  userfaultfd: { x64: 323, arm64: 282 },
  io_uring_setup: same(425),
  io_uring_enter: same(426),
  io_uring_register: same(427),
  fanotify_init: { x64: 300, arm64: 262 },
  lookup_dcookie: { x64: 212, arm64: 18 },
  modify_ldt: { x64: 154 },
  // The machine itself.
  init_module: { x64: 175, arm64: 105 },
  finit_module: { x64: 313, arm64: 273 },
  delete_module: { x64: 176, arm64: 106 },
  create_module: { x64: 174 },
  get_kernel_syms: { x64: 177 },
  query_module: { x64: 178 },
  kexec_load: { x64: 246, arm64: 104 },
  kexec_file_load: { x64: 320, arm64: 294 },
  reboot: { x64: 169, arm64: 142 },
  swapon: { x64: 167, arm64: 224 },
  swapoff: { x64: 168, arm64: 225 },
  syslog: { x64: 103, arm64: 116 },
  acct: { x64: 163, arm64: 89 },
  quotactl: { x64: 179, arm64: 60 },
  quotactl_fd: same(443),
  settimeofday: { x64: 164, arm64: 170 },
  clock_settime: { x64: 227, arm64: 112 },
  vhangup: { x64: 153, arm64: 58 },
  iopl: { x64: 172 },
  ioperm: { x64: 173 },
  _sysctl: { x64: 156 },
  uselib: { x64: 134 },
  nfsservctl: { x64: 180, arm64: 42 },
} as const satisfies Readonly<Record<string, Partial<Numbers>>>;

/** Refused or allowed by their arguments. */
export const WEIGHED_CALLS = {
  clone: { x64: 56, arm64: 220 },
  clone3: same(435),
  unshare: { x64: 272, arm64: 97 },
  ptrace: { x64: 101, arm64: 117 },
  personality: { x64: 135, arm64: 92 },
  socket: { x64: 41, arm64: 198 },
  ioctl: { x64: 16, arm64: 29 },
  shmget: { x64: 29, arm64: 194 },
} as const satisfies Readonly<Record<string, Numbers>>;
