"""Numbers change only together with the version of the numerics."""

import json

import golden_numerics
import pytest
import torch
from golden_numerics import FILE, TOLERANCE, differences, every_choice, golden, golden_choice, made_on
from torch.nn import functional

import lnexp.numerics
from lnexp.numerics import NUMERICS, numerics_of
from lnexp.plugin import attention
from lnexp.plugin.placements.peri_ln import PeriLN
from lnexp.runs.environment import environment

RECORDED = json.loads(FILE.read_text(encoding="utf-8"))
DEFAULTS = ("norm=layer_norm", "optimizer=adam", "lr_schedule=constant", "intervention=none")
AGAIN = "raise NUMERICS in lnexp/numerics.py, add a row there, and run PYTHONPATH=. python tests/golden_numerics.py"


@pytest.fixture(scope="module")
def one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture
def now(prepared, one_thread):
    return lambda: json.loads(json.dumps(golden(prepared)))


@pytest.fixture(scope="module")
def as_it_is(prepared, one_thread) -> dict:
    """The numbers of the code as it is."""
    return json.loads(json.dumps(golden(prepared)))


def lines(found: dict, relative: float) -> list[str]:
    return differences(RECORDED["runs"], found, relative)


def refuse_other_numbers(recorded: dict, found: dict) -> None:
    """Fail where numbers are not those recorded: to the last digit on the machine where they were recorded."""
    there = RECORDED["made_on"] == made_on()
    other = differences(recorded, found, 0.0 if there else TOLERANCE)
    assert not other, "\n".join([f"other numbers at the same numerics ({NUMERICS}): {AGAIN}", *other[:10]])


def test_numbers_are_those_that_were_recorded_at_this_version(as_it_is):
    assert RECORDED["numerics"] == NUMERICS, f"the golden numbers are of numerics {RECORDED['numerics']}: {AGAIN}"
    refuse_other_numbers(RECORDED["runs"], as_it_is)


def test_every_choice_has_a_golden_run_of_its_own():
    assert list(RECORDED["choices"]) == every_choice(), AGAIN
    same: dict[str, list[str]] = {}
    for choice, numbers in RECORDED["choices"].items():
        same.setdefault(json.dumps(numbers), []).append(choice)
    # an alias; post_ln and what it has by default
    aliases = [{"model=peri_ln", "model=sandwich_ln"}, {"model=post_ln", *DEFAULTS}]
    assert [set(names) for names in same.values() if len(names) > 1] == aliases


@pytest.mark.slow
@pytest.mark.parametrize("choice", every_choice())
def test_a_choice_gives_the_numbers_that_were_recorded(choice, prepared, one_thread):
    refuse_other_numbers(RECORDED["choices"][choice], golden_choice(prepared, choice))


def test_a_changed_formula_of_one_choice_is_seen_on_any_machine(prepared, one_thread, monkeypatch):
    choice, usual = "model=peri_ln", PeriLN.connect
    recorded = RECORDED["choices"][choice]
    assert not differences(recorded, golden_choice(prepared, choice), TOLERANCE)
    monkeypatch.setattr(PeriLN, "connect", lambda self, x, block: x + 1.001 * (usual(self, x, block) - x))
    assert differences(recorded, golden_choice(prepared, choice), TOLERANCE)


def warmup_off_by_one(patch: pytest.MonkeyPatch) -> None:
    words = [word.replace("warmup_updates=4", "warmup_updates=5") for word in golden_numerics.COMMON]
    patch.setattr(golden_numerics, "COMMON", words)


def more_length_penalty(patch: pytest.MonkeyPatch) -> None:
    words = [word.replace("lenpen=1.2", "lenpen=1.21") for word in golden_numerics.COMMON]
    patch.setattr(golden_numerics, "COMMON", words)


def larger_epsilon_in_norms(patch: pytest.MonkeyPatch) -> None:
    usual = functional.layer_norm
    patch.setattr(functional, "layer_norm", lambda x, shape, w, b, eps: usual(x, shape, w, b, 10 * eps))


def scaled_attention(patch: pytest.MonkeyPatch) -> None:
    usual = attention.attend_short
    patch.setattr(attention, "attend_short", lambda q, *rest: usual(1.001 * q, *rest))


@pytest.mark.slow
@pytest.mark.parametrize(
    "change",
    [warmup_off_by_one, more_length_penalty, larger_epsilon_in_norms, scaled_attention],
    ids=lambda f: f.__name__,
)
def test_a_changed_formula_is_seen_on_any_machine(change, now, monkeypatch):
    change(monkeypatch)
    assert lines(now(), TOLERANCE)


@pytest.mark.slow
def test_another_kernel_is_seen_only_where_the_numbers_were_recorded(now, as_it_is, monkeypatch):
    monkeypatch.setattr(attention, "SHORT", 0)  # torch's kernel for every length, as in the first version
    found = now()
    assert differences(as_it_is, found, 0.0)
    assert not differences(as_it_is, found, TOLERANCE)


def test_values_are_compared_by_their_kind():
    assert not differences({"a": [1.0, 2]}, {"a": [1.0 + 1e-6, 2]}, 1e-5)
    assert differences({"a": 1.0}, {"a": 1.0 + 1e-6}, 0.0) == ["/a: 1.0 is now 1.000001"]
    assert differences({"a": 1}, {"a": 2}, 1e-5)
    assert differences({"a": 1}, {"b": 1}, 1e-5)
    assert differences({"a": [1.0]}, {"a": [1.0, 1.0]}, 1e-5)
    assert differences({"a": 1.0}, {"a": float("nan")}, 1e-5), "a number that is none is none of ours"
    words = ({"words": ["a"]}, {"words": ["b"]})
    assert differences(*words, 0.0)
    assert not differences(*words, 1e-5)
    flips = ({"scores": [1.0] * 4}, {"scores": [1.0] * 3 + [1.1]})
    assert differences(*flips, 0.0)
    assert not differences(*flips, 1e-5)
    assert differences({"scores": [1.0] * 4}, {"scores": [1.0] * 2 + [1.1] * 2}, 1e-5)


def test_records_say_the_version_and_older_ones_are_of_the_first():
    assert environment("cpu", {})["numerics"] == NUMERICS
    assert numerics_of(environment("cpu", {})) == NUMERICS
    assert numerics_of({"cpu": "a processor"}) == 1


def test_the_history_has_a_row_for_every_version():
    history = lnexp.numerics.__doc__ or ""
    rows = [int(line.split()[0]) for line in history.splitlines() if line[:1].isdigit()]
    assert rows == list(range(1, NUMERICS + 1))
