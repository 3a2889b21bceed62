"""Digest the code of a module: what it does, without comments and docstrings, alike in all versions of Python."""

import ast
from hashlib import sha256
from typing import Any

#: Hex digits of a digest.
LENGTH = 12


def digest_of(tree: ast.Module) -> str:
    """Return the digest of a module's syntax tree."""
    return _hashed(repr(_plain(_without_docstrings(tree))))


def older_digest_of(tree: ast.Module) -> str:
    """Return the digest that runs recorded until 2026-11-29: of text that Python 3.12 writes otherwise than 3.11."""
    return _hashed(ast.unparse(_without_docstrings(tree)))


def _hashed(text: str) -> str:
    return sha256(text.encode()).hexdigest()[:LENGTH]


def _without_docstrings(tree: ast.Module) -> ast.Module:
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            node.body = node.body[bool(ast.get_docstring(node)) :]
    return tree


def _plain(node: Any) -> Any:
    """Return a syntax tree as lists, without what only some versions of Python say of the same code: fields that are
    empty, and empty parts of f-strings.
    """
    if isinstance(node, ast.AST):
        fields = [(name, _plain(value)) for name, value in ast.iter_fields(node) if value not in (None, [])]
        return [type(node).__name__, *fields]
    if isinstance(node, list):
        return [_plain(one) for one in node if not _is_empty_part(one, node)]
    return repr(node)


def _is_empty_part(node: Any, siblings: list[Any]) -> bool:
    """Return whether a node is an empty text beside a formatted value, as parts of f-strings are."""
    is_empty = isinstance(node, ast.Constant) and node.value == ""
    return is_empty and any(isinstance(one, ast.FormattedValue) for one in siblings)
