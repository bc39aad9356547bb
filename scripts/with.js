/** `node scripts/with.js PACKAGE PROGRAM ARGS…`: runs a program of one of the repository's packages. */

import { runProgram } from "./packages.js";

const [folder = ".", program = "", ...args] = process.argv.slice(2);
runProgram(folder, program, args);
