/** The variable by which what a child process has started is found again; it hands it on to its commands. */
export const CHILD_MARK = "OFFSHOOT_CHILD";
