"""``scripts/translate.py``: sentences translated by a trained run."""

import pytest
from helpers import ROOT, TINY, only_run, run_script

from lnexp.training.bleu import detokenise


@pytest.fixture(scope="module")
def trained(tmp_path_factory, prepared):
    here = tmp_path_factory.mktemp("trained")
    where = [f"runs_dir={here / 'runs'}", f"data_dir={prepared}"]
    done = run_script("train", *TINY, *where, "max_epoch=2", "lr_max=1e-2", "evaluation.test_beam=2")
    assert done.returncode == 0, done.stderr
    return here


def translate(here, *arguments: str, **options):
    return run_script("translate", *arguments, "--runs", str(here / "runs"), **options)


def source_of_test(prepared) -> list[str]:
    texts = [path.read_text().splitlines() for path in prepared.glob("toy-*/text/test.de")]
    return next(lines for lines in texts if len(lines) == 20)


def test_what_is_typed_is_translated_as_the_test_set_was(trained, prepared):
    folder = only_run(trained)
    tested = detokenise((folder / "hypotheses" / "test.txt").read_text().splitlines(), "en")
    sentences = source_of_test(prepared)
    told = translate(trained, folder.name[-8:], *sentences[:5])
    assert told.returncode == 0, told.stderr
    assert told.stdout.splitlines() == tested[:5]
    assert f"{folder.name}, epoch " in told.stderr
    piped = translate(trained, "post_ln", input="\n".join(sentences[5:8]) + "\n\n")
    assert piped.stdout.splitlines() == tested[5:8]


def test_words_that_no_one_has_seen_are_named(trained):
    done = translate(trained, "post_ln", "Quantenchromodynamik schläft .")
    assert done.returncode == 0, done.stderr
    assert "never seen in training: Quantenchromodynamik\n" in done.stderr
    assert done.stdout.count("\n") == 1


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["nobody", "."], "nobody: no such run"),
        (["post_ln", ".", "--beam", "0"], "--beam=0: must be at least 1"),
        (["post_ln", ". " * 5000], "a sentence of 5001 tokens is more than the 4096 of a batch"),
    ],
)
def test_what_cannot_be_is_said_in_a_line(trained, arguments, said):
    done = translate(trained, *arguments)
    assert done.returncode == 2
    assert said in done.stderr
    assert "Traceback" not in done.stderr


def test_a_run_without_checkpoints_cannot(trained, tmp_path):
    folder = tmp_path / "runs" / "adhoc" / only_run(trained).name
    folder.mkdir(parents=True)
    (folder / "config.yaml").write_text((only_run(trained) / "config.yaml").read_text())
    (folder / "status.json").write_text('{"state": "running"}')
    done = translate(tmp_path, "post_ln", ".", cwd=ROOT)
    assert done.returncode == 2
    assert "has no checkpoint to translate with" in done.stderr
