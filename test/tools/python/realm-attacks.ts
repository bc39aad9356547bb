/**
 * Ways from Python through the JavaScript around it to the process outside. Each row is code that runs
 * after `REACH` and ends with the list of the objects that it reached, which must be empty.
 */

/** The language's own objects that Python reaches by itself, and a test for those of another realm. */
export const REACH = `
from pyodide.ffi import create_proxy, jsnull, to_js
array = to_js([1, 2])
try: array.at.call.call(1)
except BaseException as error: thrown = error
Err = getattr(thrown.constructor, "__proto__")
Fn = array.constructor.constructor
Obj = getattr(getattr(array, "__proto__"), "__proto__").constructor
Sym = Obj.getOwnPropertySymbols(getattr(array, "__proto__"))[0].constructor
got = []

def take(value):
    """Keeps what is not of this realm: its functions are made by another \`Function\`."""
    try:
        if value.constructor.constructor != Fn: got.append(str(value)[:60])
    except AttributeError: pass
    except BaseException as error: take(error)
    return value

def attempt(work):
    try: return take(work())
    except BaseException as error: take(error)

def frames(error, trace):
    for site in trace:
        got.append(str(site.getFunctionName()))
        take(site.getThis())
        take(site.getFunction())
    return "shown"

def objects(entries): return Obj.fromEntries(to_js(entries))
async def coroutine(): pass
task, done = create_proxy(coroutine()), create_proxy(lambda *_: None)
waiting = task.then(done, done)
Prom = waiting.constructor
`;

export const REALM_ATTACKS: readonly (readonly [string, string])[] = [
  [
    "reads the frames of an error",
    `
attempt(lambda: setattr(Err, "stackTraceLimit", 300))
attempt(lambda: setattr(Err, "prepareStackTrace", create_proxy(frames)))
attempt(lambda: Err.new("seen").stack)
attempt(lambda: array.at.call.call(1))
got`,
  ],
  [
    "reads the frames of a function that is called by Pyodide",
    `
import pyodide.webloop as webloop
attempt(lambda: setattr(Err, "prepareStackTrace", create_proxy(frames)))
target = Obj.new()
capture = getattr(Err, "captureStackTrace", None)
if capture is not None: got.append("captureStackTrace")
hook = capture.bind(None, target) if capture is not None else create_proxy(lambda *given: [take(one) for one in given] and None)
first = Prom.resolve
Obj.defineProperty(Prom, "resolve", objects([["value", hook], ["configurable", True]]))
attempt(lambda: webloop.scheduleCallback(create_proxy(lambda *_: None), 10))
Obj.defineProperty(Prom, "resolve", objects([["value", first]]))
attempt(lambda: target.stack)
got`,
  ],
  [
    "has Node describe an error whose name cannot be a text",
    `
odd = Err.new("odd")
Obj.defineProperty(odd, "name", objects([["value", Sym("name")]]))
attempt(lambda: odd.stack)
got`,
  ],
  [
    "leaves a rejected promise to Node, whose description it takes part in",
    `
def describe(*given):
    got.append(f"described with {len(given)}")
    return "described"
key = getattr(Sym, "for")("nodejs.util.inspect.custom")
bait = Err.new("bait")
Obj.defineProperty(bait, key, objects([["value", create_proxy(describe)]]))
Obj.defineProperty(bait, "stack", objects([["get", create_proxy(describe)]]))
attempt(lambda: Prom.reject(bait))
bare = Obj.create(jsnull)
Obj.defineProperty(bare, key, objects([["value", create_proxy(describe)]]))
attempt(lambda: Prom.reject(bare))
got`,
  ],
  [
    "overflows the stack inside the clock and the random numbers",
    `
import os, time
def deep(left):
    try:
        time.time(); os.urandom(8)
        if left: deep(left - 1)
    except BaseException as error: take(error)
attempt(lambda: deep(5000))
def bounce(*_): return bouncing.call()
bouncing = create_proxy(bounce)
attempt(bounce)
got`,
  ],
  [
    "walks from object to object as far as there are any",
    `
import sys
seen, left = set(), [array, Fn, Err, Prom, Sym, thrown]
for module in list(sys.modules.values()):
    left += [one for one in list(getattr(module, "__dict__", {}).values()) if "JsProxy" in str(type(one).__mro__)]
names = Obj.getOwnPropertyNames
while left and len(seen) < 3000:
    one = left.pop()
    try:
        mark = one.js_id
        if mark in seen: continue
        seen.add(mark)
        take(one)
        left.append(getattr(one, "__proto__"))
        for name in [*names(one), *Obj.getOwnPropertySymbols(one)]:
            about = Obj.getOwnPropertyDescriptor(one, name)
            left += [getattr(about, part, None) for part in ("value", "get", "set")]
    except AttributeError: pass
    except BaseException as error: take(error)
if len(seen) < 200: got.append(f"only {len(seen)}")
got`,
  ],
];

/** What the driver is made to answer, in place of a line. */
export const FORGED_REPLIES: readonly (readonly [string, string])[] = [
  ["an object", "to_js([1])"],
  [
    "an object that reads as a text",
    "Obj.defineProperty(Obj('text'), 'toString', objects([['get', create_proxy(lambda *_: got.append(1))]]))",
  ],
  ["nothing", "None"],
  ["a number", "7"],
];

/** The reply to this call is the forged one. */
export function forge(expression: string): string {
  return `
import json
first = json.dumps
def forged(*_, **__):
    json.dumps = first
    return ${expression}
json.dumps = forged`;
}
