import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { assemble, type Instruction, ifEqual, verdict } from "../../../src/tools/sandbox/bpf.ts";
import { filterProgram, seccompFilter } from "../../../src/tools/sandbox/seccomp.ts";
import {
  type FilteredArch,
  REFUSED_CALLS,
  WEIGHED_CALLS,
} from "../../../src/tools/sandbox/system-calls.ts";
import { SANDBOX_LACK, unless } from "../../needs.ts";
import { openTestSandbox } from "./test-sandbox.ts";

const AUDIT = { x64: 0xc000003e, arm64: 0xc00000b7 } as const;
const ALLOW = "allow";

interface Call {
  readonly arch?: number;
  readonly number: number;
  readonly args?: readonly number[];
}

/** Runs a program like the kernel, on the data that it would see. */
function judge(program: readonly Instruction[], { arch = 0, number, args = [] }: Call): string {
  const words = new Map([
    [0, number],
    [4, arch],
    ...args.map((value, index): [number, number] => [16 + index * 8, value]),
  ]);
  let held = 0;
  for (let at = 0; at < program.length; at++) {
    const { code, jt, jf, k } = program[at] ?? assert.fail("jumped out of the program");
    const jump = (holds: boolean): number => (holds ? jt : jf);
    if (code === 0x20) held = words.get(k) ?? 0;
    else if (code === 0x15) at += jump(held === k);
    else if (code === 0x35) at += jump(held >= k);
    else if (code === 0x45) at += jump((held & k) !== 0);
    else if (code === 0x06) return toName(k);
    else assert.fail(`unknown instruction ${code}`);
  }
  return assert.fail("the program ended without a verdict");
}

function toName(value: number): string {
  if (value === 0x7fff0000) return ALLOW;
  if (value === 0x80000000) return "kill";
  return `errno ${value & 0xffff}`;
}

for (const arch of ["x64", "arm64"] as const satisfies readonly FilteredArch[]) {
  describe(`the filter of system calls for ${arch}`, () => {
    const program = filterProgram(arch);
    const ask = (number: number, ...args: number[]): string =>
      judge(program, { arch: AUDIT[arch], number, args });
    const weighed = (name: keyof typeof WEIGHED_CALLS, ...args: number[]): string =>
      ask(WEIGHED_CALLS[name][arch], ...args);

    it("ends a process of another processor, whatever its call", () => {
      const [first] = program;
      assert.deepEqual(first, { code: 0x20, jt: 0, jf: 0, k: 4 });
      const others = [0x40000003, 0x40000028, AUDIT[arch === "x64" ? "arm64" : "x64"], 0];
      for (const other of others) assert.equal(judge(program, { arch: other, number: 0 }), "kill");
    });

    it("refuses each call of the table, and allows its neighbours", () => {
      const known = new Set<number>();
      for (const numbers of [...Object.values(REFUSED_CALLS), ...Object.values(WEIGHED_CALLS)]) {
        const number = (numbers as Partial<Record<FilteredArch, number>>)[arch];
        if (number === undefined) continue;
        assert.ok(!known.has(number), `${number} is in the table twice`);
        known.add(number);
      }
      for (const [name, numbers] of Object.entries(REFUSED_CALLS)) {
        const number = (numbers as Partial<Record<FilteredArch, number>>)[arch];
        if (number !== undefined) assert.equal(ask(number), "errno 1", name);
      }
      for (let number = 0; number < 500; number++) {
        if (!known.has(number)) assert.equal(ask(number), ALLOW, String(number));
      }
    });

    it("refuses calls that list mounts, which describe the server", () => {
      // `statmount` and `listmount` have these numbers on every processor.
      for (const number of [457, 458]) assert.equal(ask(number), "errno 1");
    });

    it("lets processes and threads be made, and no namespaces", () => {
      assert.equal(weighed("clone", 0x01200011), ALLOW);
      assert.equal(weighed("clone", 0x003d0f00), ALLOW);
      assert.equal(weighed("unshare", 0x00000400), ALLOW);
      for (const bit of [
        0x20000, 0x2000000, 0x4000000, 0x8000000, 0x10000000, 0x20000000, 0x40000000,
      ]) {
        assert.equal(weighed("clone", 0x11 | bit), "errno 1", bit.toString(16));
        assert.equal(weighed("unshare", bit), "errno 1", bit.toString(16));
      }
      assert.equal(weighed("unshare", 0x80), "errno 1");
      assert.equal(weighed("clone3"), "errno 38");
    });

    it("lets a debugger start a program, and attach to none", () => {
      assert.equal(weighed("ptrace", 0), ALLOW);
      assert.equal(weighed("ptrace", 16), "errno 1");
      assert.equal(weighed("ptrace", 0x4206), "errno 1");
    });

    it("allows only sockets of the usual families: vsock leads out of the network namespace", () => {
      for (const family of [1, 2, 10, 16]) assert.equal(weighed("socket", family), ALLOW);
      for (const family of [0, 15, 17, 31, 38, 40, 44]) {
        assert.equal(weighed("socket", family), "errno 97");
      }
    });

    it("allows only the usual personalities and terminal requests", () => {
      for (const value of [0, 8, 0x20000, 0xffffffff]) {
        assert.equal(weighed("personality", value), ALLOW);
      }
      assert.equal(weighed("personality", 0x0400000), "errno 22");
      assert.equal(weighed("ioctl", 1, 0x5401), ALLOW);
      assert.equal(weighed("ioctl", 1, 0x5412), "errno 1");
      assert.equal(weighed("ioctl", 1, 0x541c), "errno 1");
    });

    it("refuses shared memory that cannot be counted, if required", () => {
      const number = WEIGHED_CALLS.shmget[arch];
      assert.equal(ask(number), ALLOW);
      const counted = filterProgram(arch, { countable: true });
      assert.equal(judge(counted, { arch: AUDIT[arch], number }), "errno 38");
    });

    it("is short enough for the kernel", () => {
      assert.ok(program.length < 4096, String(program.length));
      assert.equal(seccompFilter(arch)?.byteLength, program.length * 8);
    });
  });
}

describe("the filter of system calls", () => {
  it("refuses the x32 table, whose numbers are other calls", () => {
    const program = filterProgram("x64");
    for (const number of [0x40000000, 0x40000000 + 165, 0xffffffff]) {
      assert.equal(judge(program, { arch: AUDIT.x64, number }), "errno 38");
    }
  });

  it("does not exist for an unknown processor", () => {
    assert.equal(seccompFilter("riscv64"), undefined);
  });

  it("is written in the kernel's form, and refuses a block that is too long to jump over", () => {
    const bytes = assemble([...ifEqual(0xc000003e, [verdict(0x80000000)])]);
    assert.equal(bytes.toString("hex"), "150000013e0000c00600000000000080");
    assert.throws(() => ifEqual(1, Array(256).fill(verdict(0))), RangeError);
  });

  const lack = seccompFilter(process.arch) ? SANDBOX_LACK : "no filter for this processor";
  const [name, options] = unless(lack)("holds for commands in the sandbox");
  it(name, {
    ...options,
  }, async () => {
    await using place = await openTestSandbox("sandbox");
    const { stdout } = await place.sh(
      "grep '^Seccomp:' /proc/self/status; unshare -U true && echo unshared; chroot / true && echo moved; mount -t tmpfs x /tmp && echo mounted; ls -l /proc/self/fd | grep filter",
    );
    assert.equal(stdout, "Seccomp:\t2\n");
  });
});
