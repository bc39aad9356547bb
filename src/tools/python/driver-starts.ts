/** The code after the driver: how each of the two interpreters begins. */

/** Removes the ways to JavaScript from Pyodide's interpreter before it gets code. */
export const PYODIDE_START = `
def forget_javascript():
    from _pyodide import _importhook
    import pyodide.code
    _importhook.jsfinder.jsproxies.clear()
    for name in [name for name in sys.modules if name.split(".")[0] in ("js", "pyodide_js")]:
        del sys.modules[name]
    for module in (pyodide.code, sys.modules.get("pyodide._run_js")):
        for name in ("run_js", "eval_", "eval"):
            if module is not None and name in vars(module):
                delattr(module, name)

forget_javascript()
# Of a snapshot all interpreters would draw the same numbers.
if "random" in sys.modules:
    sys.modules["random"].seed()
handle
`;

/** The loop of `python3`: the protocol moves to descriptors of its own, so that no print breaks it. */
export const HOST_START = String.raw`
def limit_memory(most):
    """Limits all calls to the first one's limit, and each to its own while it runs."""
    try:
        import resource
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_DATA, (most, most))
    except (ImportError, AttributeError, ValueError, OSError):
        return

    def limit(size):
        resource.setrlimit(resource.RLIMIT_DATA, (min(size or most, most), most))

    state.limit = limit


def capture(descriptor, path):
    """Output that bypasses Python, of a library or a child process, goes to a file."""
    file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND, 0o600)
    os.dup2(file, descriptor)
    os.close(file)

    def drain():
        text = os.pread(descriptor, 4 * LIMIT + 4, 0).decode("utf-8", "replace")
        os.ftruncate(descriptor, 0)
        return text

    return drain


def serve():
    source, sink = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    process = os.getpid()
    for line in source:
        request = json.loads(line)
        if request["op"] == "open":
            limit_memory(request["mem"])
            os.makedirs(request["library"], exist_ok=True)
            drains = [capture(number, os.path.join(request["library"], f"stream-{number}"))
                      for number in (1, 2)]
            state.drain = lambda: tuple(drain() for drain in drains)
        reply = handle(line)
        if os.getpid() != process:
            os._exit(0)  # a fork of the code's answers nobody
        sink.write(reply.encode() + b"\n")
        sink.flush()

serve()
`;
