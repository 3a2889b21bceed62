"""Published commands train the runs whose numbers stand beside them."""

import pytest
from helpers import ROOT, change_provenance, run_script

from lnexp.results.judging.verdict_file import read_verdicts
from lnexp.results.judging.verdicts import RecipeVerdicts
from lnexp.results.verifying.stated_by_identity import denied_by_identity

pytestmark = pytest.mark.slow


def denied(folder):
    path = folder / "verdicts.json"
    return denied_by_identity(RecipeVerdicts(path, read_verdicts(path)))


@pytest.mark.parametrize(
    "place",
    [
        *("small/toy/fig2a", "medium/multi30k/fig2a", "small/bert_toy/fig5", "small/toy/sharpness"),
        "small/bert_toy/fig5_finetune",  # its runs start from others
        "paper/iwslt14-subset/paper_size",  # its command has a PATH, of which nothing is known here
    ],
)
def test_published_runs_are_those_of_their_commands(place):
    assert denied(ROOT / "results" / place) is None


def test_runs_that_change_places_are_found_out(fig2a):
    """Who gives the numbers of one arm to another, with its settings and commands, changes what identities are of."""

    def swap(content):
        low, warm = (
            next(
                name
                for name, run in content["runs"].items()
                if f"arm={arm}" in run["command"] and "seed=101" in run["command"]
            )
            for arm in ("no_warmup_low", "warmup_low")
        )
        content["runs"][low], content["runs"][warm] = content["runs"][warm], content["runs"][low]

    change_provenance(fig2a, swap)
    assert "not the runs that their commands train" in denied(fig2a)


@pytest.mark.parametrize(
    ("name", "value"), [("model.encoder_layers", 12), ("init", "paper"), ("norm.kind", "rms_norm"), ("max_epoch", 2)]
)
def test_settings_that_the_command_does_not_give_are_found_out(fig2a, name, value):
    change_provenance(fig2a, lambda content: content["settings"].update({name: value}))
    assert "no_warmup_low seed 101 and 39 more" in denied(fig2a)


def test_other_numerics_are_found_out(fig2a):
    change_provenance(
        fig2a, lambda content: [environment.update(numerics=99) for environment in content["environments"]]
    )
    assert "not the runs that their commands train" in denied(fig2a)


def test_verify_asks_for_identities_where_told_to(fig2a):
    change_provenance(fig2a, lambda content: content["settings"].update({"model.encoder_layers": 12}))
    root = str(fig2a.parents[2])
    assert run_script("verify", "--results", root).returncode == 0
    done = run_script("verify", "--results", root, "--identities")
    assert done.returncode == 1
    assert "not the runs that their commands train" in done.stderr


def test_a_command_that_cannot_be_composed_is_one_line(fig2a):
    """Hydra's errors have several lines."""

    def change(content):
        content["runs"]["5067c2ef"]["command"] += " no_such_option=1"

    change_provenance(fig2a, change)
    said = denied(fig2a)
    assert "its commands cannot be composed" in said
    assert "\n" not in said
