/**
 * The filter of system calls in the Linux sandbox: calls that commands may not make, whatever user they run
 * as. Everything else is allowed, so that programs keep working.
 *
 * The processor is checked first, because the same number is another call on another one, and on x64 also
 * in the 32-bit and x32 tables. bubblewrap sets the filter last, so it applies only to the command.
 */

import {
  assemble,
  type Instruction,
  ifAnyBit,
  ifAtLeast,
  ifEqual,
  ifNotEqual,
  load,
  verdict,
} from "./bpf.ts";
import { type FilteredArch, REFUSED_CALLS, WEIGHED_CALLS } from "./system-calls.ts";

/** Offsets in the kernel's `seccomp_data` that the filter reads: the low halves of the arguments. */
const NUMBER_OFFSET = 0;
const ARCH_OFFSET = 4;
const FIRST_ARGUMENT = 16;
const SECOND_ARGUMENT = 24;

const ALLOW = verdict(0x7fff0000);
const KILL = verdict(0x80000000);
const refuse = (errno: number): Instruction => verdict(0x00050000 | errno);
const NOT_PERMITTED = refuse(1);
const INVALID = refuse(22);
const NO_SUCH_CALL = refuse(38);
const NO_SUCH_FAMILY = refuse(97);

const ARCHITECTURES: Readonly<Record<FilteredArch, number>> = {
  x64: 0xc000003e,
  arm64: 0xc00000b7,
};

/** Calls of the x32 table have this bit in their number. */
const X32_BIT = 0x40000000;

/**
 * All `CLONE_NEW…` flags. The one for time shares its bit with the signal of `clone`, which cannot ask for
 * it.
 */
const NEW_NAMESPACES = 0x7e020000;
const NEW_TIME = 0x80;

const PTRACE_ATTACH = 16;
const PTRACE_SEIZE = 0x4206;

/** Plain Linux, its 32-bit form, both with the name of an old version; and the query for the current one. */
const PERSONALITIES = [0, 0x8, 0x20000, 0x20008, 0xffffffff];

/**
 * Unix, IPv4, IPv6 and netlink. Others reach past the network namespace (vsock reaches the machine's own
 * host) or are parts of the kernel that commands do not need.
 */
const FAMILIES = [1, 2, 10, 16];

/** Both put text into a terminal as if a user had typed it. */
const TERMINAL_REQUESTS = [0x5412, 0x541c];

export interface FilterOptions {
  /** Refuses shared memory that no process's own figures count. */
  readonly countable?: boolean;
}

/** The program for this processor as bytes; undefined if there is none. */
export function seccompFilter(arch: string, options: FilterOptions = {}): Buffer | undefined {
  return isFiltered(arch) ? assemble(filterProgram(arch, options)) : undefined;
}

export function filterProgram(arch: FilteredArch, options: FilterOptions = {}): Instruction[] {
  return [
    load(ARCH_OFFSET),
    ...ifNotEqual(ARCHITECTURES[arch], [KILL]),
    load(NUMBER_OFFSET),
    ...(arch === "x64" ? ifAtLeast(X32_BIT, [NO_SUCH_CALL]) : []),
    ...Object.values(REFUSED_CALLS).flatMap((numbers: Partial<Record<FilteredArch, number>>) => {
      const number = numbers[arch];
      return number === undefined ? [] : ifEqual(number, [NOT_PERMITTED]);
    }),
    ...weighedCalls(arch, options),
    ALLOW,
  ];
}

function weighedCalls(arch: FilteredArch, { countable = false }: FilterOptions): Instruction[] {
  const on = (name: keyof typeof WEIGHED_CALLS, body: readonly Instruction[]): Instruction[] =>
    ifEqual(WEIGHED_CALLS[name][arch], body);
  return [
    ...on("clone", [load(FIRST_ARGUMENT), ...ifAnyBit(NEW_NAMESPACES, [NOT_PERMITTED]), ALLOW]),
    // The flags of `clone3` are in memory, which a filter cannot read. C libraries then use `clone`.
    ...on("clone3", [NO_SUCH_CALL]),
    ...on("unshare", [
      load(FIRST_ARGUMENT),
      ...ifAnyBit(NEW_NAMESPACES | NEW_TIME, [NOT_PERMITTED]),
      ALLOW,
    ]),
    // A debugger may trace what it starts itself, but may not attach to running processes.
    ...on("ptrace", [
      load(FIRST_ARGUMENT),
      ...ifEqual(PTRACE_ATTACH, [NOT_PERMITTED]),
      ...ifEqual(PTRACE_SEIZE, [NOT_PERMITTED]),
      ALLOW,
    ]),
    ...on("personality", [...onlyThese(PERSONALITIES), INVALID]),
    ...on("socket", [...onlyThese(FAMILIES), NO_SUCH_FAMILY]),
    ...on("ioctl", [
      load(SECOND_ARGUMENT),
      ...TERMINAL_REQUESTS.flatMap((request) => ifEqual(request, [NOT_PERMITTED])),
      ALLOW,
    ]),
    ...(countable ? on("shmget", [NO_SUCH_CALL]) : []),
  ];
}

function onlyThese(values: readonly number[]): Instruction[] {
  return [load(FIRST_ARGUMENT), ...values.flatMap((value) => ifEqual(value, [ALLOW]))];
}

function isFiltered(arch: string): arch is FilteredArch {
  return Object.hasOwn(ARCHITECTURES, arch);
}
