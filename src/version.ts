/** The package's version; `test/version.test.ts` holds it to package.json. */
export const VERSION = "0.1.0";
