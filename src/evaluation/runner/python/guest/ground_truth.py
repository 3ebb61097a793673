# Tells whether an evaluator's code reads the event's ground truth, by following where the event,
# its feedback and the words "feedback" and "ground_truth" go through Python's own syntax tree.
# Called by evaluator.py when an evaluator is saved: what reads it runs only where it is present.
# In doubt the answer is yes; a value that cannot be told, asked for that key, is a read.
# Source: docs/spec.md, Evaluators; decision 23.

import ast
import builtins

from ground_truth_calls import Calls
from ground_truth_scopes import Scope
from ground_truth_words import BUCKET_WORD, FEEDBACK_WORD, KEY, KEY_WORD, NOTHING, OBJECT, OTHER
from ground_truth_words import OTHER_BUCKETS, UNKNOWN, WORDS, Kinds
from ground_truth_words import held, is_base, is_event, is_key, union, words_of

# Code that takes more than this to follow (some seconds) is answered with "yes".
STEPS_MAX = 200_000
ROUNDS_MAX = 20

DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


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


class TooMuch(Exception):
    """The code is too tangled to follow."""


class Reading(Calls):
    """
    Follows one evaluator's code, again and again until nothing new is learnt. Names only ever gain
    kinds, so that comes to an end.
    """

    def finds_read(self) -> bool:
        for _ in range(ROUNDS_MAX):
            before = self.facts
            self.calls_of_round.clear()
            self.run(self.tree.body, self.globals)
            self.run_uncalled()
            if self.is_found or self.facts == before:
                return self.is_found
        raise TooMuch

    def run_uncalled(self) -> None:
        """Functions that nothing here calls: the evaluator itself first, then what is left over."""
        for function in list(self.functions.values()):
            name = getattr(function.node, "name", None)
            if name in ("evaluate", "evaluator") or name and name not in self.called_names:
                self.call(function, None)
        # Later ones call earlier ones rather than the other way.
        for function in reversed(list(self.functions.values())):
            if not function.was_called:
                self.call(function, None)

    # Statements.

    def run(self, body: list[ast.stmt], scope: Scope) -> None:
        for statement in body:
            self.statement(statement, scope)

    def statement(self, node: ast.stmt, scope: Scope) -> None:
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                self.values(node.decorator_list, scope)
                self.add(scope, node.name, frozenset({self.function(node, scope)}))
            case ast.ClassDef():
                self.class_statement(node, scope)
            case ast.Return(value=ast.expr() as value):
                self.give_back(scope, self.value(value, scope))
            case ast.Assign():
                kinds = self.value(node.value, scope)
                for target in node.targets:
                    self.assign(target, kinds, scope, node.value)
            case ast.AugAssign():
                before = self.value(node.target, scope)
                self.assign(node.target, before | self.value(node.value, scope), scope)
            case ast.AnnAssign(value=ast.expr() as value):
                self.assign(node.target, self.value(value, scope), scope, value)
            case ast.For() | ast.AsyncFor():
                self.assign(node.target, self.value(node.iter, scope), scope)
                self.run(node.body + node.orelse, scope)
            case ast.Delete(targets=targets):
                for target in targets:
                    self.assign(target, NOTHING, scope)
            case ast.Match():
                self.match_statement(node, scope)
            case ast.Global(names=names):
                scope.homes.update(dict.fromkeys(names, scope.module()) if scope.outer else {})
            case ast.Nonlocal(names=names):
                scope.homes.update({name: scope.home_of(name) for name in names})
            case ast.Import() | ast.ImportFrom() | ast.AnnAssign() | ast.TypeAlias():
                pass
            case ast.Expr(value=ast.Constant()):
                pass
            case _:
                self.parts(node, scope)

    def parts(self, node: ast.AST, scope: Scope) -> None:
        """Everything in a statement that is only its parts: if, while, with, try, raise, …"""
        for part in ast.iter_child_nodes(node):
            match part:
                case ast.stmt():
                    self.statement(part, scope)
                case ast.expr():
                    self.value(part, scope)
                case ast.withitem():
                    kinds = self.value(part.context_expr, scope)
                    if part.optional_vars:
                        self.assign(part.optional_vars, kinds, scope)
                case ast.excepthandler():
                    self.parts(part, scope)

    def class_statement(self, node: ast.ClassDef, scope: Scope) -> None:
        self.values(node.decorator_list + node.bases, scope)
        made = self.function(node, scope)
        self.add(scope, node.name, frozenset({made}))
        inside = Scope(scope)
        for statement in node.body:
            if isinstance(statement, DEFINITIONS):
                is_static = any(
                    isinstance(one, ast.Name) and one.id == "staticmethod"
                    for one in statement.decorator_list
                )
                method = self.function(statement, scope, not is_static)
                if method not in self.methods.setdefault(statement.name, []):
                    self.methods[statement.name].append(method)
                continue
            if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
                if statement.target.id not in made.fields:
                    made.fields.append(statement.target.id)
            self.statement(statement, inside)
        for name, kinds in inside.names.items():
            self.grow(self.attributes, name, kinds)

    def assign(
        self, target: ast.expr, kinds: Kinds, scope: Scope, value: ast.expr | None = None
    ) -> None:
        match target:
            case ast.Name():
                self.add(scope, target.id, kinds)
            case ast.Starred():
                self.assign(target.value, kinds, scope)
            case ast.Tuple() | ast.List():
                one_by_one = elements_for(target.elts, value)
                for index, element in enumerate(target.elts):
                    if one_by_one:
                        part = one_by_one[index]
                        self.assign(element, self.value(part, scope), scope, part)
                    else:
                        self.assign(element, kinds, scope)
            case ast.Attribute():
                self.value(target.value, scope)
                self.grow(self.attributes, target.attr, kinds)
            case ast.Subscript():
                self.values([target.value, target.slice], scope)
                self.put_into(target.value, held(kinds) if kinds else NOTHING, scope)

    def put_into(self, container: ast.expr, kinds: Kinds, scope: Scope) -> None:
        match container:
            case ast.Name():
                if scope.find(container.id) is not None:
                    self.add(scope, container.id, kinds)
            case ast.Attribute():
                self.grow(self.attributes, container.attr, kinds)

    def match_statement(self, node: ast.Match, scope: Scope) -> None:
        kinds = self.value(node.subject, scope)
        for case in node.cases:
            self.pattern(case.pattern, kinds, scope)
            if case.guard:
                self.value(case.guard, scope)
            self.run(case.body, scope)

    def pattern(self, node: ast.pattern, kinds: Kinds, scope: Scope) -> None:
        match node:
            case ast.MatchMapping():
                for key, inner in zip(node.keys, node.patterns):
                    self.pattern(inner, self.read(kinds, self.value(key, scope)), scope)
                if node.rest:
                    self.add(scope, node.rest, kinds)
            case ast.MatchClass():
                for inner in node.patterns:
                    self.pattern(inner, kinds, scope)
                for name, inner in zip(node.kwd_attrs, node.kwd_patterns):
                    self.pattern(inner, self.attribute(kinds, name), scope)
            case ast.MatchSequence() | ast.MatchOr():
                for inner in node.patterns:
                    self.pattern(inner, kinds, scope)
            case ast.MatchAs() | ast.MatchStar():
                if isinstance(node, ast.MatchAs) and node.pattern:
                    self.pattern(node.pattern, kinds, scope)
                if node.name:
                    self.add(scope, node.name, kinds)
            case ast.MatchValue():
                self.meet(kinds, self.value(node.value, scope))

    # Expressions.

    def values(self, nodes: list[ast.expr], scope: Scope) -> Kinds:
        return union(*[self.value(node, scope) for node in nodes])

    def value(self, node: ast.expr, scope: Scope) -> Kinds:
        self.steps += 1
        if self.steps > STEPS_MAX:
            raise TooMuch
        match node:
            case ast.Constant(value=text):
                return words_of(text) if isinstance(text, str) else frozenset({OTHER})
            case ast.Name():
                return self.name(node.id, scope)
            case ast.Attribute():
                return self.attribute(self.value(node.value, scope), node.attr)
            case ast.Subscript(slice=ast.Slice()):
                self.parts(node.slice, scope)
                return self.value(node.value, scope)
            case ast.Subscript():
                return self.read(self.value(node.value, scope), self.value(node.slice, scope))
            case ast.Call():
                return self.call_expression(node, scope)
            case ast.Lambda():
                return frozenset({self.function(node, scope)})
            case ast.BinOp():
                return self.operation(node, scope)
            case ast.Compare():
                kinds = [self.value(one, scope) for one in (node.left, *node.comparators)]
                for left, right in zip(kinds, kinds[1:]):
                    self.meet(left, right)
                return frozenset({OTHER})
            case ast.NamedExpr():
                kinds = self.value(node.value, scope)
                self.add(scope, node.target.id, kinds)
                return kinds
            case ast.IfExp():
                self.value(node.test, scope)
                return self.values([node.body, node.orelse], scope)
            case ast.List() | ast.Tuple() | ast.Set():
                return held(self.values(node.elts, scope))
            case ast.Dict():
                return self.dict_display(node, scope)
            case ast.ListComp() | ast.SetComp() | ast.GeneratorExp() | ast.DictComp():
                return self.comprehension(node, scope)
            case ast.JoinedStr() | ast.TemplateStr():
                kinds = self.values(node.values, scope)
                return kinds if len(node.values) == 1 else kinds - WORDS | {OTHER}
            case ast.Yield() | ast.YieldFrom():
                kinds = self.value(node.value, scope) if node.value else NOTHING
                self.give_back(scope, kinds)
                return frozenset({UNKNOWN})
            case _:
                # and, or, not, await, *x: what their parts are.
                parts = [one for one in ast.iter_child_nodes(node) if isinstance(one, ast.expr)]
                return self.values(parts, scope)

    def name(self, name: str, scope: Scope) -> Kinds:
        found = scope.find(name)
        if found is not None:
            return found
        is_known = name in self.bound_names or hasattr(builtins, name)
        return NOTHING if is_known else frozenset({UNKNOWN})

    def attribute(self, base: Kinds, name: str) -> Kinds:
        stored = self.attributes.get(name, NOTHING)
        # A method that is not called yet (`get = feedback.get`) stands for what it is of.
        of_base = base - {OBJECT}
        if name == KEY:
            return stored | self.read(of_base, frozenset({KEY_WORD}))
        if name == "feedback":
            return stored | self.read(of_base, frozenset({FEEDBACK_WORD}))
        if name in OTHER_BUCKETS:
            return stored | self.read(of_base, frozenset({BUCKET_WORD}))
        own = self.methods.get(name, []) if OBJECT in base else []
        return stored | of_base | frozenset(own)

    def meet(self, left: Kinds, right: Kinds) -> None:
        """`"ground_truth" in feedback`, `key == "ground_truth"` for a key of the feedback."""
        if (is_key(left) and is_event(right)) or (is_key(right) and is_event(left)):
            self.is_found = True

    def operation(self, node: ast.BinOp, scope: Scope) -> Kinds:
        left, right = self.value(node.left, scope), self.value(node.right, scope)
        if isinstance(node.op, ast.Mod) and is_key(left) and is_base(right):
            self.is_found = True
        if isinstance(node.op, (ast.BitAnd, ast.Sub)):
            self.meet(left, right)
        return left | right

    def dict_display(self, node: ast.Dict, scope: Scope) -> Kinds:
        kinds: Kinds = frozenset({OTHER})
        for key, value in zip(node.keys, node.values):
            if key:
                self.value(key, scope)
            inside = self.value(value, scope)
            kinds |= held(inside) if key else inside
        return kinds

    def comprehension(self, node: ast.expr, scope: Scope) -> Kinds:
        for generator in node.generators:
            self.assign(generator.target, self.value(generator.iter, scope), scope)
            self.values(generator.ifs, scope)
        if isinstance(node, ast.DictComp):
            self.value(node.key, scope)
            return held(self.value(node.value, scope))
        return held(self.value(node.elt, scope))


def elements_for(targets: list[ast.expr], value: ast.expr | None) -> list[ast.expr] | None:
    """The parts of `a, b = x, y` where they can be told apart."""
    if not isinstance(value, (ast.Tuple, ast.List)) or len(value.elts) != len(targets):
        return None
    is_plain = not any(isinstance(one, ast.Starred) for one in (*value.elts, *targets))
    return value.elts if is_plain else None
