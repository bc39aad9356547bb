/** The last line of `npm test`: what it does not run, and how to run it. */

console.log(
  "Not run: decoding recordings of real servers and comparing with the published API documents; they are not part of " +
    "this repository. With a folder that holds them: npm run test:recordings -- DIR",
);
