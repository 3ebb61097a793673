# Tells whether an evaluator's code reads the event's ground truth, by following where the event,
# its feedback and the words "feedback" and "ground_truth" go through Python's own syntax tree.
# Called by evaluator.py when an evaluator is saved; what reads it runs only where it is present.
# In doubt the answer is yes: a base that cannot be told, asked for that key, is a read.
# Source: docs/spec.md, Evaluators; decision 23.

import ast
import builtins
import re

KEY = "ground_truth"

# What a value may be. A value's kinds are a frozenset of these, of words and of functions.
EVENT, FEEDBACK, UNKNOWN = "the event", "its feedback", "unknown"
# Something that holds no ground truth: another bucket, a number, a text.
OTHER = "other"
OBJECT = "an object of a class of the code's own"
# Words that are keys: `ground_truth`, `feedback`, another bucket's, and a path to the ground truth.
KEY_WORD, FEEDBACK_WORD, BUCKET_WORD, PATH_WORD = "#key", "#feedback", "#bucket", "#path"
WORDS = {KEY_WORD, FEEDBACK_WORD, BUCKET_WORD, PATH_WORD}

OTHER_BUCKETS = {"inputs", "outputs", "metadata", "metrics", "config"}
GLOBALS = {"event": EVENT, "feedback": FEEDBACK, **dict.fromkeys(OTHER_BUCKETS, OTHER)}

# Methods that read by key; those that change what they are called on; those whose arguments are
# text to look for or to say, which no key comes to.
READERS = {"get", "pop", "setdefault", "__getitem__", "__getattribute__"}
ADDERS = {"append", "add", "extend", "insert", "update"}
RENDERERS = {"format", "format_map", "substitute", "safe_substitute", "render"}
SAYING = {"debug", "info", "warning", "error", "exception", "critical", "log", "write"}
TEXT_METHODS = (set(dir(str)) | {"remove", "discard", "search", "match"}) - RENDERERS
QUIET_FUNCTIONS = {"print", "len", "isinstance", "hasattr", "repr", "str", "warn"}
GETTERS = {"getattr", "getitem"}

PATH = re.compile(r"(^|.*[^\w])feedback['\"]?(\.get\(|[\].\[/?]+)['\"]?ground_truth\b\S*")
PLACEHOLDER = re.compile(r"\{+\s*([^{}]+?)\s*\}+|%\(([^)]+)\)|\$(?!\{)(\w+)|<(\w+)>")

# Code that needs more than this to follow is answered with "yes".
CALLS_MAX = 5_000
ROUNDS_MAX = 8

Kinds = frozenset[object]
NOTHING: Kinds = frozenset()


class TooMuch(Exception):
    """The code is too tangled to follow."""


class Function:
    """A function, lambda or class of the code's own, and the scope that it was made in."""

    def __init__(self, node: ast.AST, scope: "Scope") -> None:
        self.node = node
        self.scope = scope
        self.was_called = False


class Scope:
    """What each name of a function, or of the module, may be."""

    def __init__(self, outer: "Scope | None" = None) -> None:
        self.outer = outer
        self.names: dict[str, Kinds] = {}
        self.elsewhere: dict[str, Scope] = {}
        self.returned: Kinds = NOTHING

    def find(self, name: str) -> Kinds | None:
        if name in self.elsewhere:
            return self.elsewhere[name].find(name)
        if name in self.names:
            return self.names[name]
        return self.outer.find(name) if self.outer else None

    def add(self, name: str, kinds: Kinds) -> None:
        home = self.elsewhere.get(name, self)
        home.names[name] = home.names.get(name, NOTHING) | kinds

    def module(self) -> "Scope":
        return self.outer.module() if self.outer else self


def is_read(tree: ast.Module) -> bool:
    """Whether code reads the ground truth of the event it is given."""
    if not any(mentions_key(node) for node in ast.walk(tree)):
        return False
    try:
        return Reading(tree).finds_read()
    except (TooMuch, RecursionError):
        return True


def mentions_key(node: ast.AST) -> bool:
    match node:
        case ast.Constant(value=str(text)):
            return KEY in text
        case ast.Attribute(attr=name):
            return name == KEY
        case ast.MatchClass(kwd_attrs=names):
            return KEY in names
    return False


def words_of(text: str) -> Kinds:
    """The keys that a text is, or that its placeholders name."""
    found = {word_of(text)}
    for groups in PLACEHOLDER.findall(text):
        found.update(word_of(part) for part in groups if part)
    return frozenset(found - {OTHER}) or frozenset({OTHER})


def word_of(text: str) -> str:
    if text == KEY:
        return KEY_WORD
    if text == "feedback":
        return FEEDBACK_WORD
    if text in OTHER_BUCKETS:
        return BUCKET_WORD
    return PATH_WORD if PATH.fullmatch(text.strip()) and " " not in text.strip() else OTHER


def is_base(kinds: Kinds) -> bool:
    """Whether the ground truth may be found in it."""
    return bool(kinds & {EVENT, FEEDBACK, UNKNOWN})


def held(kinds: Kinds) -> Kinds:
    """What a list or a dict is that holds these: words and functions show, the rest is hidden."""
    shown = frozenset(kind for kind in kinds if kind in WORDS or isinstance(kind, Function))
    return shown | {UNKNOWN if is_base(kinds) or OBJECT in kinds else OTHER}


class Reading:
    """Follows one evaluator's code. Names only ever gain kinds, so rounds come to an end."""

    def __init__(self, tree: ast.Module) -> None:
        self.tree = tree
        self.is_found = False
        self.attributes: dict[str, Kinds] = {}
        self.functions: dict[tuple[ast.AST, Scope], Function] = {}
        self.methods: dict[str, list[Function]] = {}
        self.calls: dict[object, Kinds] = {}
        self.calls_made = 0
        self.globals = Scope()
        for name, kind in GLOBALS.items():
            self.globals.add(name, frozenset({kind}))

    def finds_read(self) -> bool:
        for _ in range(ROUNDS_MAX):
            before = self.state()
            self.calls.clear()
            self.run(self.tree.body, self.globals)
            for function in list(self.functions.values()):
                if not function.was_called:
                    self.call(function, None)
            if self.is_found or self.state() == before:
                return self.is_found
        raise TooMuch

    def state(self) -> object:
        return dict(self.globals.names), dict(self.attributes), len(self.functions)
