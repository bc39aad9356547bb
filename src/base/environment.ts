/** Environment variables as they are given to a program, so that a test can give its own. */
export type Environment = Readonly<Record<string, string | undefined>>;
