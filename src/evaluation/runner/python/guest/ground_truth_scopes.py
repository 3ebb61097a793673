# What ground_truth.py knows of an evaluator's functions and of what each name in them may be. Used
# by ground_truth.py and ground_truth_calls.py. Source: docs/spec.md, Evaluators; decision 23.

import ast

from ground_truth_words import NOTHING, Kinds, union


class Scope:
    """What each name of the module, or of a function in one way of calling it, may be."""

    def __init__(self, outer: Scope | None = None) -> None:
        self.outer = outer
        self.names: dict[str, Kinds] = {}
        # Names declared global or nonlocal.
        self.homes: dict[str, Scope] = {}
        self.returned = NOTHING

    def find(self, name: str) -> Kinds | None:
        if name in self.homes:
            return self.homes[name].find(name)
        if name in self.names:
            return self.names[name]
        return self.outer.find(name) if self.outer else None

    def home_of(self, name: str) -> Scope:
        """The nearest outer scope that has the name."""
        scope = self.outer or self
        while name not in scope.names and scope.outer and scope.outer.outer:
            scope = scope.outer
        return scope

    def module(self) -> Scope:
        return self.outer.module() if self.outer else self


class Function:
    """A function, lambda or class of the code's own, and the scope that it was made in."""

    def __init__(self, node: ast.AST, scope: Scope, is_method: bool = False) -> None:
        self.node = node
        self.scope = scope
        self.is_method = is_method
        self.was_called = False
        # A class's annotated names, which a dataclass takes in this order.
        self.fields: list[str] = []


class Arguments:
    """What a call passes; `spread` is what came by * and **, or what any parameter may get."""

    def __init__(self, positional: list[Kinds], named: dict[str, Kinds], spread: Kinds) -> None:
        self.positional = positional
        self.named = named
        self.spread = spread

    def all(self) -> Kinds:
        return union(*self.positional, *self.named.values(), self.spread)


def names_bound(tree: ast.Module):
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name, ctx=ast.Store()):
                yield name
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                yield name
            case ast.ClassDef(name=name) | ast.ExceptHandler(name=str(name)) | ast.arg(arg=name):
                yield name
            case ast.alias(name=name, asname=asname):
                yield asname or name.partition(".")[0]
            case ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
                yield name
            case ast.MatchMapping(rest=str(name)):
                yield name


def names_called(tree: ast.Module):
    """Names that something other than the function of that name itself calls."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            match node.func:
                case ast.Name(id=name) | ast.Attribute(attr=name):
                    yield name
