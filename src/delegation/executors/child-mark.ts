/** The variable by which what a child process has started is found again; it hands it on to its commands. */
export const CHILD_MARK = "OFFSHOOT_CHILD";

/** Which variables of a child process are keys that its parent had stored: they are none for its commands. */
export const STORED_NAMES = "OFFSHOOT_STORED_KEYS";
