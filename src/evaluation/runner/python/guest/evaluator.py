# Runs a project's evaluator inside the sandbox: finds what it defines, calls it with one event and
# says what came of it. Imported when the memory snapshot is made; guest/main.js calls `inspect` and
# `run`, one at a time, and passes their JSON on. Evaluators share this interpreter and can change
# anything here, so nobody outside believes more of an answer than that this process wrote it.
# Source: docs/sandbox.md; decisions 22.3 and 23.

import ast
import asyncio
import functools
import importlib
import inspect as introspection
import json
import linecache
import math
import sys
import time
import traceback
import types
import warnings

# What evaluators are written with. In the snapshot it costs memory once; imported by each process
# it would cost seconds.
for package in (
    "collections copy csv dataclasses datetime decimal difflib enum fractions hashlib itertools "
    "operator random re statistics string textwrap typing unicodedata urllib.parse "
    "jsonschema sqlglot"
).split():
    importlib.import_module(package)

FILE = "<evaluator>"
MODULE = "__evaluator__"
BUCKETS = ("inputs", "outputs", "feedback", "metadata", "metrics", "config")
EXPLANATION_CHARACTERS_MAX = 10_000
TRACEBACK_CHARACTERS_MAX = 10_000
MESSAGE_CHARACTERS_MAX = 2_000
VALUE_CHARACTERS_MAX = 10_000
# Beyond it a JSON number read as a double is another number.
INTEGER_MAX = 2**53
TRUTH_KEY = "ground_truth"
HOW_TO = "define `def evaluate(event):` and return the score from it, or set `result`"

OUTPUT = sys.stdout
ERRORS = sys.stderr


class ResultFault(Exception):
    """The evaluator ran to its end, and what it gave is no score."""


class CodeFault(Exception):
    """The code cannot be run at all."""


# Inspecting: what can be said of an evaluator when it is saved, without running it.


def inspect(source: str) -> str:
    """Answers {"readsGroundTruth"} or {"fault": {"message", "line", "column"}}; runs nothing."""
    try:
        compile_quietly(source)
        with warnings.catch_warnings(action="ignore"):
            tree = ast.parse(source, FILE)
    except SyntaxError as error:
        return fault(f"{type(error).__name__}: {error.msg}", error.lineno, error.offset)
    except (RecursionError, MemoryError, OverflowError):
        return fault("the code is too deeply nested")
    except ValueError as error:
        return fault(f"the code is no text that Python can read: {error}")
    if not may_define_evaluator(tree):
        return fault(f"the code has no evaluator: {HOW_TO}")
    return json.dumps({"readsGroundTruth": reads_ground_truth(tree)})


def reads_ground_truth(tree: ast.Module) -> bool:
    """
    Whether the code names `ground_truth` in a string or as an attribute. Docstrings do not count;
    any other mention does, because a missed read would score events that have no ground truth.
    """
    nodes = list(ast.walk(tree))
    docstrings = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
    for node in nodes:
        match node:
            case ast.Constant(value=str(text)) if TRUTH_KEY in text and id(node) not in docstrings:
                return True
            case ast.Attribute(attr=name) if name == TRUTH_KEY:
                return True
            case ast.MatchClass(kwd_attrs=names) if TRUTH_KEY in names:
                return True
    return False


def fault(message: str, line: int | None = None, column: int | None = None) -> str:
    place = {"line": max(line or 1, 1), "column": max(column or 1, 1)}
    return json.dumps({"fault": {"message": cut(message, MESSAGE_CHARACTERS_MAX), **place}})


def compile_quietly(source: str) -> types.CodeType:
    with warnings.catch_warnings(action="ignore"):
        return compile(source, FILE, "exec", dont_inherit=True)


def may_define_evaluator(tree: ast.Module) -> bool:
    """False only where it is certain: no function, no `result`, nothing that may make either."""
    dynamic = {"exec", "eval", "globals", "locals", "vars", "setattr", "__import__"}
    for node in ast.walk(tree):
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.Lambda():
                return True
            case ast.Name(id=name, ctx=ast.Store()) if name in ("result", "evaluate", "evaluator"):
                return True
            case ast.Name(id=name) if name in dynamic:
                return True
            case ast.alias(name=name, asname=asname):
                if name == "*" or (asname or name) in ("result", "evaluate", "evaluator"):
                    return True
            case ast.MatchAs(name="result") | ast.MatchStar(name="result"):
                return True
    return False


# Running.


def run(source: str, event_json: str) -> str:
    """
    Runs the evaluator on one event in globals of its own. Answers {"kind": "value", "value",
    "explanation"} or {"kind": "failure", "reason", "message", "traceback"}.
    """
    try:
        return json.dumps(answer(source, event_json))
    except MemoryError:
        return json.dumps(out_of_memory())
    except BaseException as error:
        return json.dumps(failure("EXCEPTION", type(error).__name__))


def answer(source: str, event_json: str) -> dict:
    try:
        value, explanation = evaluate(source, event_json)
        return {"kind": "value", "value": value, "explanation": explanation}
    except ResultFault as error:
        return failure("RESULT", str(error))
    except CodeFault as error:
        return failure("CODE", str(error))
    except MemoryError as error:
        # What the evaluator's frames hold is what there was too much of.
        traceback.clear_frames(error.__traceback__)
        return out_of_memory()
    except BaseException as error:
        # SystemExit and KeyboardInterrupt too: an evaluator does not end what runs it.
        return failure("EXCEPTION", *describe(error))
    finally:
        forget_scope()
        OUTPUT.flush()
        ERRORS.flush()


def failure(reason: str, message: str, trace: str = "") -> dict:
    said = {"kind": "failure", "reason": reason, "message": cut(message, MESSAGE_CHARACTERS_MAX)}
    return {**said, "traceback": trace} if trace else said


def out_of_memory() -> dict:
    return failure("MEMORY_LIMIT", "MemoryError: the evaluator used more memory than it may")


def evaluate(source: str, event_json: str) -> tuple[object, str | None]:
    sys.stdout, sys.stderr = OUTPUT, ERRORS
    code = compiled(source)
    event = json.loads(event_json)
    scope = fresh_scope(event)
    exec(code, scope)
    return to_score(*find_result(scope, event))


@functools.lru_cache(maxsize=1)
def compiled(source: str) -> types.CodeType:
    try:
        code = compile_quietly(source)
    except (SyntaxError, ValueError, RecursionError, OverflowError) as error:
        raise CodeFault(f"{type(error).__name__}: {error}") from None
    linecache.cache[FILE] = (len(source), None, source.splitlines(keepends=True), FILE)
    return code


def fresh_scope(event: dict) -> dict:
    # Of a module, as dataclasses and annotations look their own up by its name.
    module = types.ModuleType(MODULE)
    sys.modules[MODULE] = module
    module.event = event
    for bucket in BUCKETS:
        found = event.get(bucket)
        setattr(module, bucket, {} if found is None else found)
    return module.__dict__


def forget_scope() -> None:
    """Functions and their globals hold each other; a large event must not wait for a collection."""
    module = sys.modules.pop(MODULE, None)
    if module is not None:
        module.__dict__.clear()


def find_result(scope: dict, event: dict) -> tuple[object, object]:
    """The result and the explanation that the code left, or what its function returned."""
    if "result" in scope and not is_function(scope["result"]):
        explanation = scope.get("explanation")
        value = awaited(scope["result"])
        return value, (None if is_function(explanation) else explanation)
    name, function = find_function(scope)
    return called(name, function, event), None


def find_function(scope: dict) -> tuple[str, object]:
    for name in ("evaluate", "evaluator"):
        if callable(scope.get(name)):
            return name, scope[name]
    own = [(name, value) for name, value in scope.items() if is_own_function(value)]
    own.sort(key=lambda pair: introspection.unwrap(pair[1]).__code__.co_firstlineno)
    taking_event = [pair for pair in own if first_parameter(pair[1]) == "event"]
    if taking_event:
        return taking_event[-1]
    callable_once = [pair for pair in own if accepts(pair[1], 1)]
    if len(callable_once) == 1:
        return callable_once[0]
    if not callable_once:
        raise ResultFault(f"the code has no evaluator: {HOW_TO}")
    names = ", ".join(name for name, _ in callable_once)
    raise ResultFault(f"which of {names} is the evaluator cannot be told: name it `evaluate`")


def is_function(value: object) -> bool:
    return isinstance(value, (types.FunctionType, types.BuiltinFunctionType, type))


def is_own_function(value: object) -> bool:
    """Whether the code defined it, decorated or not, rather than imported it."""
    if isinstance(value, type) or not callable(value):
        return False
    inner = introspection.unwrap(value)
    return isinstance(inner, types.FunctionType) and inner.__module__ == MODULE


def first_parameter(function: object) -> str | None:
    return next(iter(introspection.signature(function).parameters), None)


def accepts(function: object, count: int) -> bool:
    try:
        introspection.signature(function).bind(*range(count))
        return True
    except (TypeError, ValueError):
        return False


def called(name: str, function: object, event: dict) -> object:
    if accepts(function, 1):
        return awaited(function(event))
    if accepts(function, 0):
        return awaited(function())
    raise ResultFault(f"{name}() must be callable with one argument, the event")


# Coroutines.


class Clock:
    """Stands where an event loop asks its sockets: there are none, only time passes."""

    def select(self, timeout: float | None) -> list:
        if timeout is None:
            raise RuntimeError("the evaluator awaits something that nothing will ever finish")
        if timeout > 0:
            time.sleep(timeout)
        return []

    def close(self) -> None:
        pass


class Loop(asyncio.BaseEventLoop):
    """
    Runs coroutines to their end within one call. Pyodide's own loop would return to JavaScript
    for each wait.
    """

    def __init__(self) -> None:
        super().__init__()
        self._selector = Clock()

    def _process_events(self, events: list) -> None:
        pass

    def _write_to_self(self) -> None:
        pass


def awaited(value: object) -> object:
    return run_to_end(value) if introspection.isawaitable(value) else value


def run_to_end(awaitable: object, **_options: object) -> object:
    async def wait() -> object:
        return await awaitable

    loop = Loop()
    outer = asyncio.events._get_running_loop()
    asyncio.events._set_running_loop(None)
    try:
        return loop.run_until_complete(wait())
    finally:
        loop.run_until_complete(leave_nothing_running())
        loop.close()
        asyncio.events._set_running_loop(outer)


async def leave_nothing_running() -> None:
    tasks = asyncio.all_tasks() - {asyncio.current_task()}
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    await asyncio.get_running_loop().shutdown_asyncgens()


# An evaluator's own `asyncio.run(main())` as well.
asyncio.run = run_to_end


# From what was returned to a score.


def to_score(value: object, explanation: object) -> tuple[object, str | None]:
    if isinstance(value, tuple):
        if len(value) != 2:
            raise ResultFault(
                f"returned a tuple of {len(value)}; return the score, or (score, explanation)"
            )
        value, explanation = value
    elif isinstance(value, dict):
        key = next((key for key in ("result", "score") if key in value), None)
        if key is None:
            raise ResultFault('returned a dict without "result" or "score"')
        value, explanation = value[key], value.get("explanation")
    check_score(value)
    if explanation is None:
        return value, None
    return value, cut(str(explanation), EXPLANATION_CHARACTERS_MAX)


def check_score(value: object) -> None:
    match value:
        case None:
            raise ResultFault("returned None; return a score: a bool, int, float or str")
        case bool():
            return
        case int() if not -INTEGER_MAX <= value <= INTEGER_MAX:
            raise ResultFault("returned an integer beyond 2**53, which JSON cannot carry exactly")
        case float() if not math.isfinite(value):
            raise ResultFault(f"returned {float.__repr__(value)}, which is no score")
        case str() if len(value) > VALUE_CHARACTERS_MAX:
            raise ResultFault(f"returned a string of more than {VALUE_CHARACTERS_MAX} characters")
        case int() | float() | str():
            return
    raise ResultFault(f"returned a {type(value).__name__}; a score is a bool, int, float or str")


# Saying what went wrong, in the evaluator's own terms.


def describe(error: BaseException) -> tuple[str, str]:
    """`ZeroDivisionError: division by zero`, and the traceback through the evaluator's code."""
    said = traceback.TracebackException.from_exception(error, lookup_lines=False, compact=True)
    keep_own_frames(said)
    message = "".join(own_names(line) for line in last_lines(said))
    return message.strip(), cut_middle("".join(own_names(line) for line in said.format()))


def last_lines(said: traceback.TracebackException) -> list[str]:
    """The exception's own lines, without those that show where a SyntaxError is."""
    if said.exc_type_str.endswith(("SyntaxError", "IndentationError", "TabError")):
        return [f"{said.exc_type_str}: {said}"]
    return list(said.format_exception_only())


def keep_own_frames(said: traceback.TracebackException) -> None:
    left = [said]
    while left:
        one = left.pop()
        frames = [frame for frame in one.stack if frame.filename == FILE]
        one.stack = traceback.StackSummary.from_list(frames)
        also = (one.__cause__, one.__context__, *(one.exceptions or ()))
        left.extend(other for other in also if other is not None)


def own_names(line: str) -> str:
    return line.replace(f"{MODULE}.", "")


def cut(text: str, characters: int) -> str:
    return text if len(text) <= characters else text[: characters - 1] + "…"


def cut_middle(text: str) -> str:
    """Keeps both ends: where it began, and what it ended with."""
    half = TRACEBACK_CHARACTERS_MAX // 2 - 10
    if len(text) <= TRACEBACK_CHARACTERS_MAX:
        return text
    return f"{text[:half]}\n  …\n{text[-half:]}"
