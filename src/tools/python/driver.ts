/**
 * The Python side of an interpreter: reads one request as a line of JSON and writes one reply. The same
 * text runs in Pyodide and in the machine's own `python3`, so both answer alike.
 *
 * It separates its own names from those of the code (a module of its own, captured streams), but not its
 * memory: code that runs in an interpreter controls it. The limits on the code are around the interpreter.
 */

/** The modules of Python's library that the driver needs: a snapshot already has them. */
export const DRIVER_IMPORTS = `
import ast, asyncio, base64, importlib, importlib.metadata, importlib.util, inspect, io, json, linecache
import os, re, stat, sys, sysconfig, time, traceback, types, zipfile
`;

/** Defines `handle(line) -> line`. The first request is `open`. */
export const DRIVER = String.raw`${DRIVER_IMPORTS}
LIMIT = 10_000
MAX_FILES, MAX_SCANNED = 20, 5_000
MAX_IMAGE, MAX_TEXT, MAX_DATA = 5 * 1024 * 1024, 4_000, 20 * 1024 * 1024
IMAGES = (b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff", b"GIF87a", b"GIF89a")
AWAIT = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
CUT = "\n... (truncated)\n".encode("utf-16-le")

state = types.SimpleNamespace(folder=None, module=None, cells=0, missing={})
state.drain, state.limit = lambda: ("", ""), lambda size: None


class Captured(io.TextIOBase):
    """Text up to the limit and one character more, which says that there was more."""

    encoding = "utf-8"

    def __init__(self):
        self.parts, self.room = [], LIMIT + 1
        self.buffer = CapturedBytes(self)

    def writable(self):
        return True

    def write(self, text):
        if not isinstance(text, str):
            raise TypeError(f"write() argument must be str, not {type(text).__name__}")
        if self.room > 0:
            kept = text[: self.room]
            self.parts.append(kept)
            self.room -= len(kept)
        return len(text)

    def text(self):
        return whole("".join(self.parts))


def whole(text):
    """Without halves of characters, which JSON can have and UTF-8 cannot."""
    return text.encode("utf-8", "replace").decode()


class CapturedBytes(io.RawIOBase):
    def __init__(self, target):
        self.target = target

    def writable(self):
        return True

    def write(self, data):
        self.target.write(bytes(data).decode("utf-8", "replace"))
        return len(data)


class Loop(asyncio.BaseEventLoop):
    """An event loop without input and output: in WebAssembly there is nothing to wait for but time."""

    def __init__(self):
        super().__init__()
        self._selector = self

    def select(self, timeout):
        if timeout is None:
            raise RuntimeError("every task waits for something that cannot come")
        if timeout > 0:
            time.sleep(timeout)
        return []

    def _process_events(self, events):
        pass

    def _write_to_self(self):
        pass


def handle(line):
    request = json.loads(line)
    try:
        reply = globals()["on_" + request["op"]](request)
    except MemoryError:
        reply = {"error": "out of memory"}
    except BaseException as error:
        reply = {"error": "".join(traceback.format_exception_only(error)).strip()}
    return json.dumps(reply)


def on_open(request):
    state.folder = request["folder"]
    state.module = types.ModuleType("__main__")
    sys.modules["__main__"] = state.module
    sys.argv = [""]
    os.makedirs(state.folder, exist_ok=True)
    os.chdir(state.folder)
    sys.path.insert(0, state.folder)
    for mount in request["mounts"]:
        place = os.path.join(state.folder, *mount["path"].split("/"))
        os.makedirs(os.path.dirname(place), exist_ok=True)
        with open(place, "wb") as file:
            file.write(base64.b64decode(mount["data"]))
        os.chmod(place, 0o444)
    write_figures_module(request["library"])
    state.loop = make_loop()
    return {"version": sys.version.split()[0]}


def make_loop():
    if sys.platform != "emscripten":
        return asyncio.new_event_loop()
    asyncio.events._set_running_loop(None)
    first = asyncio.runners.run
    asyncio.run = lambda main, *, debug=None, loop_factory=None: first(
        main, debug=debug, loop_factory=loop_factory or Loop
    )
    return Loop()


def write_figures_module(library):
    """The backend of matplotlib: showing a figure saves it where files are collected."""
    os.makedirs(library, exist_ok=True)
    sys.path.append(library)
    os.environ["MPLBACKEND"] = "module://offshoot_figures"
    with open(os.path.join(library, "offshoot_figures.py"), "w") as file:
        file.write(FIGURES)


FIGURES = '''
import itertools
from matplotlib.backends.backend_agg import FigureCanvasAgg as FigureCanvas
from matplotlib.backend_bases import FigureManagerBase as FigureManager

numbers = itertools.count(1)

def show(*args, **kwargs):
    from matplotlib import pyplot
    for number in pyplot.get_fignums():
        pyplot.figure(number).savefig(f"figure-{next(numbers)}.png")
    pyplot.close("all")
'''


def on_imports(request):
    """The modules that the code imports and that are missing."""
    try:
        tree = ast.parse(request["code"])
    except (SyntaxError, ValueError):
        return {"names": []}
    names = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names.append(node.module)
    tops = dict.fromkeys(name.split(".")[0] for name in names)
    return {"names": [name for name in tops if not is_there(name)]}


def is_there(name):
    try:
        return name in sys.modules or importlib.util.find_spec(name) is not None
    except (ImportError, ValueError):
        return False


def on_install(request):
    """Unpacks wheels; returns the names of their missing requirements."""
    needed = []
    for wheel in request["wheels"]:
        with zipfile.ZipFile(io.BytesIO(base64.b64decode(wheel["data"]))) as archive:
            for entry in archive.infolist():
                unpack(archive, entry)
        importlib.invalidate_caches()
        needed += requirements(wheel["name"])
    return {"names": list(dict.fromkeys(needed))}


def unpack(archive, entry):
    target = sysconfig.get_path("purelib")
    top, _, rest = entry.filename.partition("/")
    if top.endswith(".data"):
        scheme, _, rest = rest.partition("/")
        if scheme not in ("purelib", "platlib", "data") or not rest:
            return
        entry.filename = rest
        target = sys.prefix if scheme == "data" else target
    archive.extract(entry, target)


def requirements(name):
    try:
        lines = importlib.metadata.requires(name) or []
    except importlib.metadata.PackageNotFoundError:
        return []
    found = []
    for line in lines:
        match = re.match(r"[A-Za-z0-9._-]+", line)
        if match and not re.search(r"\bextra\s*==", line) and not is_installed(match[0]):
            found.append(match[0])
    return found


def is_installed(name):
    try:
        importlib.metadata.version(name)
        return True
    except importlib.metadata.PackageNotFoundError:
        return False


def on_run(request):
    state.missing = request["missing"]
    before = scan()
    out, err, streams = Captured(), Captured(), (sys.stdout, sys.stderr)
    sys.stdin, sys.stdout, sys.stderr = io.StringIO(""), out, err
    result, trace, thrown = None, "", None
    try:
        state.limit(request["mem"])
        result = evaluate(request["code"])
    except BaseException as error:
        thrown = error
    finally:
        state.limit(None)
        sys.stdout, sys.stderr = streams
    if thrown is not None:
        trace = describe(thrown)
    more = state.drain()
    out.write(more[0])
    err.write(more[1])
    stderr = fit(err.text(), whole(trace))
    return {"stdout": out.text(), "stderr": stderr, "result": result, **changed(before)}


def evaluate(code):
    """Runs the code; the value of a last expression comes back as its repr."""
    state.cells += 1
    name = f"<cell {state.cells}>"
    linecache.cache[name] = (len(code), None, code.splitlines(True), name)
    tree = compile(code, name, "exec", ast.PyCF_ONLY_AST | AWAIT, dont_inherit=True)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    execute(compile(tree, name, "exec", AWAIT, dont_inherit=True))
    if last is None:
        return None
    value = execute(compile(ast.Expression(last.value), name, "eval", AWAIT, dont_inherit=True))
    if value is None or code.rstrip().endswith(";"):
        return None
    state.module._ = value
    return whole(repr(value)[: LIMIT + 1])


def execute(compiled):
    value = eval(compiled, state.module.__dict__)
    if compiled.co_flags & inspect.CO_COROUTINE:
        return state.loop.run_until_complete(value)
    return value


def describe(error):
    """Exceptions belong to the code, and so do all of their methods."""
    try:
        return traced(error)
    except BaseException:
        return "An exception was raised that cannot be described.\n"


def traced(error):
    """The traceback without the driver's own frames."""
    if isinstance(error, SystemExit):
        return "" if error.code in (None, 0) else f"SystemExit: {error.code}\n"
    frames = error.__traceback__
    while frames and not frames.tb_frame.f_code.co_filename.startswith("<cell "):
        frames = frames.tb_next
    text = "".join(traceback.format_exception(type(error), error, frames))
    if isinstance(error, ModuleNotFoundError) and isinstance(error.name, str):
        how = state.missing.get(error.name.split(".")[0])
        text += "" if how is None else how + "\n"
    return text


def fit(text, trace):
    """Both within the limit, which counts halves of UTF-16: the end says what went wrong."""
    first, last = text.encode("utf-16-le"), trace.encode("utf-16-le")
    if not last or len(first) + len(last) <= 2 * LIMIT:
        return text + trace
    if len(last) > LIMIT:
        last = last[: LIMIT // 2] + CUT + last[-LIMIT // 2 :]
    room = 2 * LIMIT - len(last)
    if len(first) > room:
        first = first[: room - len(CUT)] + CUT
    return (first + last).decode("utf-16-le", "ignore")


def scan():
    found = {}
    for top, folders, names in os.walk(state.folder):
        folders[:] = [name for name in folders if name != "__pycache__"]
        for name in names:
            path = os.path.join(top, name)
            about = os.lstat(path)
            if stat.S_ISREG(about.st_mode):
                found[path] = (about.st_mtime_ns, about.st_size, about.st_ino)
            if len(found) >= MAX_SCANNED:
                return found
    return found


def changed(before):
    paths = [path for path, about in sorted(scan().items()) if before.get(path) != about]
    left, files = MAX_DATA, []
    for path in paths[:MAX_FILES]:
        size = os.path.getsize(path)
        data = content(path, size) if size <= left else None
        left -= len(data or b"")
        name = whole(os.path.relpath(path, state.folder))
        sent = None if data is None else base64.b64encode(data).decode()
        files.append({"path": name, "size": size, "data": sent})
    return {"files": files, "more_files": max(0, len(paths) - MAX_FILES)}


def content(path, size):
    """The bytes of a file to send: an image, or a short text."""
    if size > MAX_IMAGE:
        return None
    try:
        with open(path, "rb") as file:
            head = file.read(16)
            is_image = head.startswith(IMAGES) or (head[:4] == b"RIFF" and head[8:12] == b"WEBP")
            return head + file.read() if is_image or size <= MAX_TEXT else None
    except OSError:
        return None
`;
