/**
 * A small assembler for the programs with which the Linux kernel filters system calls (classic BPF).
 *
 * A program is a flat list of instructions. Conditions take their body as a list and jump over it, so a
 * program is written as nested blocks and no jump is counted by hand.
 */

/** One instruction, as the kernel's `sock_filter` has it. */
export interface Instruction {
  readonly code: number;
  /** How many instructions are skipped when the condition holds, and when it does not. */
  readonly jt: number;
  readonly jf: number;
  readonly k: number;
}

const LOAD_WORD = 0x20;
const JUMP_EQUAL = 0x15;
const JUMP_AT_LEAST = 0x35;
const JUMP_ANY_BIT = 0x45;
const RETURN = 0x06;

/** A jump is one byte. */
const MAX_BODY = 255;

/** Puts four bytes of the kernel's `seccomp_data` into the accumulator. */
export function load(offset: number): Instruction {
  return { code: LOAD_WORD, jt: 0, jf: 0, k: offset };
}

/** Ends the program with a verdict. */
export function verdict(value: number): Instruction {
  return { code: RETURN, jt: 0, jf: 0, k: value };
}

export function ifEqual(value: number, body: readonly Instruction[]): Instruction[] {
  return [{ code: JUMP_EQUAL, jt: 0, jf: lengthOf(body), k: value }, ...body];
}

export function ifNotEqual(value: number, body: readonly Instruction[]): Instruction[] {
  return [{ code: JUMP_EQUAL, jt: lengthOf(body), jf: 0, k: value }, ...body];
}

export function ifAtLeast(value: number, body: readonly Instruction[]): Instruction[] {
  return [{ code: JUMP_AT_LEAST, jt: 0, jf: lengthOf(body), k: value }, ...body];
}

export function ifAnyBit(bits: number, body: readonly Instruction[]): Instruction[] {
  return [{ code: JUMP_ANY_BIT, jt: 0, jf: lengthOf(body), k: bits }, ...body];
}

const INSTRUCTION_BYTES = 8;

/** The bytes for the kernel, on machines that put the low byte first. */
export function assemble(program: readonly Instruction[]): Buffer {
  const bytes = Buffer.alloc(program.length * INSTRUCTION_BYTES);
  for (const [index, { code, jt, jf, k }] of program.entries()) {
    const at = index * INSTRUCTION_BYTES;
    bytes.writeUInt16LE(code, at);
    bytes.writeUInt8(jt, at + 2);
    bytes.writeUInt8(jf, at + 3);
    bytes.writeUInt32LE(k, at + 4);
  }
  return bytes;
}

function lengthOf(body: readonly Instruction[]): number {
  if (body.length <= MAX_BODY) return body.length;
  throw new RangeError(`A block of ${body.length} instructions is too long to jump over.`);
}
