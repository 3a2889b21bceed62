"""Digests of code are alike in all versions of Python, and differ where the code does."""

import ast
import shutil
import subprocess

import pytest
from helpers import ROOT

from lnexp.runs.code_digest import digest_of

CODE = '''
"""A module."""
from math import inf

def f(x, *, y: int = 0) -> str:
    """Return something."""
    return f"{x!r:>{y}} {', '.join(f'{one}' for one in x)}" + f"{x:{y}}" + "" + "a" "b"  # a comment

class A:
    pass
'''
MODULE = ROOT / "lnexp/runs/code_digest.py"


def _starts(python: str) -> bool:
    return subprocess.run([python, "-c", "pass"], capture_output=True, check=False).returncode == 0


FOUND = [python for minor in (11, 12, 13) if (python := shutil.which(f"python3.{minor}"))]
OTHERS = [python for python in FOUND if _starts(python)]


def digest(code: str) -> str:
    return digest_of(ast.parse(code))


@pytest.mark.parametrize("python", OTHERS or [pytest.param(None, marks=pytest.mark.skip("no other Python is here"))])
def test_another_python_gives_the_same(python):
    program = f"import ast, runpy; m = runpy.run_path({str(MODULE)!r}); print(m['digest_of'](ast.parse({CODE!r})))"
    done = subprocess.run([python, "-c", program], capture_output=True, text=True, check=False)
    assert done.stdout.strip() == digest(CODE), done.stderr


def test_it_stays_as_it_was_recorded():
    assert digest(CODE) == "808e0ad1a8e4"


def test_comments_docstrings_and_layout_do_not_count():
    other = CODE.replace("A module", "Another").replace("  # a comment", "").replace("Return something", "Give it")
    assert digest(other.replace("y: int = 0", "y : int=0")) == digest(CODE)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("= 0", "= 1"),
        ("= 0", "= 0.0"),
        ("!r", "!s"),
        ('"" + ', ""),
        ("inf", "nan"),
        ("class A", "class B"),
        ("f'{one}'", "one"),
    ],
)
def test_other_code_has_another_digest(old, new):
    assert digest(CODE.replace(old, new)) != digest(CODE)
