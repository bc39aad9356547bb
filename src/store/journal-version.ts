/**
 * The version of journals. What run code writes into a journal, and in which order it reads it, changes with the
 * program: a run that one version began continues only with a version that knows its journal. Each run names the
 * version of the newest program that has run it. A program continues runs of its own version and of older ones, and
 * leaves newer ones to programs that know them.
 *
 * Add one if an older program could not continue with what this one has journaled: a step with another key, another
 * meaning or another form, or another order of steps. A change of run code must also keep this program able to
 * continue journals of earlier versions.
 */
export const JOURNAL_VERSION = 1;
