/**
 * The version of journals. What run code writes into a journal, and in which order it asks for it, changes with the
 * program: a run that one version began goes on only with a version that knows its journal. Each run names the version
 * of the newest program that has run it. A program goes on with runs of its own version and of older ones, and leaves
 * newer ones to programs that know them.
 *
 * Add one where an older program could not go on with what this one has journaled: a step with another key, another
 * meaning or another form, or another order of steps. Whoever changes run code also sees to it that this program goes on
 * with journals of the versions before.
 */
export const JOURNAL_VERSION = 1;
