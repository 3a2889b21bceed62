"""The command that prepares corpora takes those of recipes as their runs would."""

import pytest
from helpers import run_script

from lnexp.configuration import compose
from lnexp.launchers.plan import Plan
from lnexp.recipes.command_line import split_recipes, with_corpus
from lnexp.recipes.jobs import jobs_of

pytestmark = pytest.mark.slow

BERT = "+recipe=fig5,fig5_finetune,fig5_finetune_rte"


@pytest.fixture
def folder(tmp_path):
    """A folder with documents, and GLUE's pairs of MRPC and RTE as they come."""
    (tmp_path / "books").mkdir()
    (tmp_path / "books" / "all.txt").write_text("The dog sleeps.\n\nIt waits.\n\nThe cat sees it.\n\n" * 4)
    heads = {"MRPC": "Quality\t#1 ID\t#2 ID\t#1 String\t#2 String", "RTE": "index\tsentence1\tsentence2\tlabel"}
    for name, head in heads.items():
        (tmp_path / "glue" / name).mkdir(parents=True)
        for split in ("train", "dev"):
            said = [f"{n}\tDog {n} sleeps.\tIt is cat {n}." for n in range(6 if name == "RTE" else 4)]
            rows = [
                f"{row}\t{'not_' * (n % 2)}entailment" if name == "RTE" else f"{n % 2}\t{n}\t{row}"
                for n, row in enumerate(said)
            ]
            (tmp_path / "glue" / name / f"{split}.tsv").write_text("\n".join([head, *rows, ""]))
    return tmp_path


def options(folder, *more):
    of_text = ["data=wikipedia_books", f"data.path={folder / 'books'}", "data.text.hold_out=3", "subword=none"]
    return ["profile=paper", *of_text, f"data_dir={folder / 'data'}", *more]


def prepare(folder, recipe, *more):
    return run_script("prepare_data", f"+recipe={recipe}", *options(folder, *more))


def test_settings_of_a_recipe_choose_its_pairs(folder):
    done = prepare(folder, "fig5_finetune", f"data.pairs.path={folder / 'glue' / 'MRPC'}")
    assert "4 labelled pairs (mrpc)" in done.stdout
    wrong = prepare(folder, "fig5_finetune_rte", f"data.pairs.path={folder / 'glue' / 'MRPC'}")
    assert "no column 'label'" in wrong.stderr, "RTE has a column of another name than MRPC"


def test_pre_training_and_both_fine_tunings_take_one_command(folder):
    glue = f"data.glue={folder / 'glue'}"
    done = run_script("prepare_data", BERT, *options(folder, glue))
    assert done.returncode == 0, done.stderr
    assert "4 labelled pairs (mrpc)" in done.stdout
    assert "6 labelled pairs (rte)" in done.stdout
    assert "training sentences" in done.stdout

    recipes, rest = split_recipes([BERT, *options(folder, glue, "n_seeds=1", "arms=['post_ln_warmup*']")])
    jobs = [
        [*with_corpus(recipe, "paper", rest), *job.overrides]
        for recipe in recipes
        for job in jobs_of(recipe, compose(rest))
    ]
    plan = Plan.of(jobs, compose, str(folder / "runs"), here=False)
    assert len(plan.missing) == len(jobs) == 2 + 3 + 3
    assert plan.prepare() == {}


def test_glue_that_is_not_said_or_not_there_is_one_line(folder):
    assert "error: data.glue: not set" in prepare(folder, "fig5_finetune").stderr
    (folder / "glue" / "RTE" / "dev.tsv").unlink()
    done = prepare(folder, "fig5_finetune_rte", f"data.glue={folder / 'glue'}")
    assert "RTE: no dev.tsv in it" in done.stderr
