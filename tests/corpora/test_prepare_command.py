"""The command that prepares corpora takes those of recipes as their runs would."""

import pytest
from helpers import run_script


@pytest.fixture
def paper(tmp_path):
    """Prepares the corpus of a recipe at profile paper from a folder with documents and one with pairs of MRPC."""
    (tmp_path / "books").mkdir()
    (tmp_path / "books" / "all.txt").write_text("The dog sleeps.\n\nIt waits.\n\nThe cat sees it.\n\n" * 4)
    (tmp_path / "MRPC").mkdir()
    for split in ("train", "dev"):
        rows = "".join(f"{n % 2}\t{n}\t{n}\tDog {n} sleeps.\tIt is cat {n}.\n" for n in range(4))
        (tmp_path / "MRPC" / f"{split}.tsv").write_text(f"Quality\t#1 ID\t#2 ID\t#1 String\t#2 String\n{rows}")

    def prepare(recipe):
        of_text = [
            f"data.path={tmp_path / 'books'}",
            "data.text.hold_out=3",
            "subword=none",
            f"data_dir={tmp_path / 'data'}",
        ]
        return run_script(
            "prepare_data", f"+recipe={recipe}", "profile=paper", f"data.pairs.path={tmp_path / 'MRPC'}", *of_text
        )

    return prepare


def test_settings_of_a_recipe_choose_its_pairs(paper):
    assert "4 labelled pairs" in paper("fig5_finetune").stdout


def test_another_recipe_has_other_pairs(paper):
    assert "no column 'label'" in paper("fig5_finetune_rte").stderr, "RTE has a column of another name than MRPC"
