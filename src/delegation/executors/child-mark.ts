/**
 * Marks what a child process has started, so that it can be found again; the child passes the variable on to its
 * commands.
 */
export const CHILD_MARK = "OFFSHOOT_CHILD";

/** Names the variables of a child process that are stored keys of its parent: its commands do not get them. */
export const STORED_NAMES = "OFFSHOOT_STORED_KEYS";
