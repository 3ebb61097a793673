# What a call in an evaluator's code reads and gives back: a function of its own is followed with
# what it is passed; of any other it is seen whether the key and what has the ground truth meet in
# it. The half of ground_truth.py that is about calls. Source: docs/spec.md, Evaluators; decision
# 23.

import ast

from ground_truth_scopes import Arguments, Function, Scope, names_bound, names_called
from ground_truth_words import EVENT, FEEDBACK, FEEDBACK_WORD, GLOBALS, KEY, KEY_WORD, NOTHING
from ground_truth_words import OBJECT, OTHER, PATH_WORD, UNKNOWN, WORDS, Kinds
from ground_truth_words import functions_in, held, is_base, is_key, part_of, union

# Methods that read by key, that add to what they are called on, and that fill in a template.
READERS = {"get", "pop", "setdefault", "__getitem__", "__getattribute__"}
ADDERS = {"append", "add", "extend", "insert", "update"}
RENDERERS = {"format", "format_map", "substitute", "safe_substitute", "render"}
# Calls to which "ground_truth" is a text like any other: what is said, searched for, put together.
LOGGING = {"debug", "info", "warning", "error", "exception", "critical", "log", "write"}
TEXT_METHODS = (set(dir(str)) | LOGGING | {"remove", "discard", "search", "match"}) - RENDERERS
PLAIN_FUNCTIONS = {"print", "len", "isinstance", "hasattr", "repr", "str", "bool", "int", "float"}
COLLECTING = {"zip", "enumerate", "list", "tuple", "set", "frozenset", "dict", "iter", "reversed"}
PLAIN_FUNCTIONS |= COLLECTING
GETTERS = {"getattr", "getitem"}


class Calls:
    """
    What is known of one evaluator's code, and what its calls add. `run`, `value`, `attribute` and
    `put_into` are those of ground_truth.py's Reading.
    """

    def __init__(self, tree: ast.Module) -> None:
        self.tree = tree
        self.is_found = False
        self.facts = 0
        self.steps = 0
        # An object's attributes by their name alone, whichever object's.
        self.attributes: dict[str, Kinds] = {}
        self.methods: dict[str, list[Function]] = {}
        self.functions: dict[tuple[ast.AST, Scope], Function] = {}
        self.call_scopes: dict[object, Scope] = {}
        self.calls_of_round: set[object] = set()
        self.bound_names = set(names_bound(tree))
        self.called_names = set(names_called(tree))
        self.globals = Scope()
        self.globals.names = {name: frozenset({kind}) for name, kind in GLOBALS.items()}

    # What is learnt.

    def read(self, base: Kinds, key: Kinds) -> Kinds:
        if is_key(key) and is_base(base):
            self.is_found = True
        return part_of(base, key)

    def add(self, scope: Scope, name: str, kinds: Kinds) -> None:
        names = scope.homes.get(name, scope).names
        self.grow(names, name, kinds)

    def grow(self, table: dict[str, Kinds], name: str, kinds: Kinds) -> None:
        known = table.get(name)
        if known is None or not kinds <= known:
            table[name] = kinds | (known or NOTHING)
            self.facts += 1

    def give_back(self, scope: Scope, kinds: Kinds) -> None:
        if not kinds <= scope.returned:
            scope.returned |= kinds
            self.facts += 1

    def function(self, node: ast.AST, scope: Scope, is_method: bool = False) -> Function:
        key = (node, scope)
        if key not in self.functions:
            self.functions[key] = Function(node, scope, is_method)
            self.facts += 1
        return self.functions[key]

    # Calls.

    def call_expression(self, node: ast.Call, scope: Scope) -> Kinds:
        arguments = self.arguments(node, scope)
        if isinstance(node.func, ast.Attribute):
            return self.method_call(node.func, arguments, scope)
        callee = self.value(node.func, scope)
        name = node.func.id if isinstance(node.func, ast.Name) else ""
        if not callee and name.endswith(("Error", "Exception", "Warning")):
            return frozenset({OTHER})
        if not callee and name in PLAIN_FUNCTIONS:
            return arguments.all()
        if not callee and name in GETTERS:
            return self.getter_call(arguments)
        return self.any_call(callee, arguments)

    def arguments(self, node: ast.Call, scope: Scope) -> Arguments:
        positional, named, spread = [], {}, NOTHING
        for argument in node.args:
            kinds = self.value(argument, scope)
            if isinstance(argument, ast.Starred):
                spread |= kinds
            else:
                positional.append(kinds)
        for keyword in node.keywords:
            kinds = self.value(keyword.value, scope)
            if keyword.arg is None:
                spread |= kinds
            else:
                named[keyword.arg] = kinds
        return Arguments(positional, named, spread)

    def getter_call(self, arguments: Arguments) -> Kinds:
        base, key, *default = [*arguments.positional, arguments.spread, arguments.spread]
        return union(self.read(base, key), *default)

    def method_call(self, node: ast.Attribute, arguments: Arguments, scope: Scope) -> Kinds:
        name, receiver = node.attr, self.value(node.value, scope)
        is_own = OBJECT in receiver and name in self.methods
        if is_own or (not receiver and name not in GETTERS):
            return self.any_call(self.attribute(receiver, name), arguments)
        if name in GETTERS:
            return self.getter_call(arguments)
        if name in READERS:
            key, *default = [*arguments.positional, arguments.spread]
            return union(self.read(receiver, key), *default)
        if name in ADDERS:
            kinds = arguments.all()
            self.put_into(node.value, kinds if name in ("update", "extend") else held(kinds), scope)
            return receiver
        if name in TEXT_METHODS:
            return pieces(receiver | arguments.all())
        if name in RENDERERS:
            # What fills the placeholder of that very name is no base to look it up in.
            filled = [kinds for key, kinds in arguments.named.items() if key != KEY]
            pool = union(*arguments.positional, *filled, arguments.spread)
            return self.any_call(NOTHING, Arguments([receiver], {}, pool))
        return self.any_call(self.attribute(receiver, name), arguments)

    def any_call(self, callee: Kinds, arguments: Arguments) -> Kinds:
        own = functions_in(callee)
        if OBJECT in callee:
            own += self.methods.get("__call__", [])
        result = union(*[self.call(function, arguments) for function in own])
        if own and not is_base(callee):
            return result
        pool = callee | arguments.all()
        bases = pool - WORDS - frozenset(functions_in(pool))
        if is_key(pool) and is_base(pool) or PATH_WORD in pool and not bases:
            self.is_found = True
        passed = Arguments([], {}, pool - frozenset(functions_in(pool)) or frozenset({UNKNOWN}))
        for function in functions_in(arguments.all()):
            result |= self.call(function, passed)
        return (
            result
            | self.read(callee & {EVENT, FEEDBACK, UNKNOWN}, arguments.all())
            | (pool or frozenset({UNKNOWN}))
        )

    def call(self, function: Function, arguments: Arguments | None) -> Kinds:
        """What a function gives back; without arguments, whatever it may be called with."""
        function.was_called = True
        if isinstance(function.node, ast.ClassDef):
            return self.construct(function, arguments)
        bound = self.bind(function, arguments)
        key = (function, tuple(sorted(bound.items(), key=lambda pair: pair[0])))
        scope = self.call_scopes.setdefault(key, Scope(function.scope))
        if key in self.calls_of_round:
            return scope.returned
        self.calls_of_round.add(key)
        for name, kinds in bound.items():
            self.add(scope, name, kinds)
        if isinstance(function.node, ast.Lambda):
            self.give_back(scope, self.value(function.node.body, scope))
        else:
            self.run(function.node.body, scope)
        return scope.returned or frozenset({OTHER})

    def construct(self, function: Function, arguments: Arguments | None) -> Kinds:
        if arguments:
            by_field = zip(function.fields, arguments.positional)
            for name, kinds in (*by_field, *arguments.named.items()):
                self.grow(self.attributes, name, kinds)
            for method in self.methods.get("__init__", []):
                if method.node in function.node.body:
                    self.call(method, arguments)
        return frozenset({OBJECT})

    def bind(self, function: Function, arguments: Arguments | None) -> dict[str, Kinds]:
        parameters = function.node.args
        places = [one.arg for one in (*parameters.posonlyargs, *parameters.args)]
        defaults = self.defaults(function)
        bound: dict[str, Kinds] = {}
        if function.is_method and places:
            bound[places.pop(0)] = frozenset({OBJECT})
        names = [*places, *(one.arg for one in parameters.kwonlyargs)]
        if arguments is None:
            for name in names:
                bound[name] = frozenset({GLOBALS.get(name, UNKNOWN)}) | defaults.get(name, NOTHING)
            rest: Kinds = frozenset({UNKNOWN})
        else:
            given = {**dict(zip(places, arguments.positional)), **arguments.named}
            for name in names:
                bound[name] = given.get(name, arguments.spread | defaults.get(name, NOTHING))
            rest = held(arguments.all())
        for one in (parameters.vararg, parameters.kwarg):
            if one:
                bound[one.arg] = rest
        return bound

    def defaults(self, function: Function) -> dict[str, Kinds]:
        parameters = function.node.args
        places = [*parameters.posonlyargs, *parameters.args]
        pairs = [
            *zip(reversed(places), reversed(parameters.defaults)),
            *zip(parameters.kwonlyargs, parameters.kw_defaults),
        ]
        return {one.arg: self.value(default, function.scope) for one, default in pairs if default}


def pieces(kinds: Kinds) -> Kinds:
    """What a text method makes of words: a path may have been split."""
    return kinds | {FEEDBACK_WORD, KEY_WORD} if PATH_WORD in kinds else kinds
