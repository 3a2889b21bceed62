"""``scripts/translate.py``: sentences translated by a trained run."""

import io
import json
import os
import pty
import re
import select
import shutil
import subprocess
import sys
from pathlib import Path
from zipfile import ZipFile

import pytest
import torch
import yaml
from helpers import ROOT, TINY, only_run, run_script
from warm_commands import warm_python

from lnexp.commands.translate import _typed
from lnexp.corpora.text import read_lines
from lnexp.errors import UserError
from lnexp.hashing import file_digest
from lnexp.runs.checksum import remove_checksum
from lnexp.tasks.translation.bleu import detokenise

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def trained(tmp_path_factory, prepared):
    here = tmp_path_factory.mktemp("trained")
    where = [f"runs_dir={here / 'runs'}", f"data_dir={prepared}"]
    done = run_script("train", *TINY, *where, "max_epoch=2", "lr_max=1e-2", "evaluation.test_beam=2")
    assert done.returncode == 0, done.stderr
    return here


def translate(here, *arguments: str, **options):
    return run_script("translate", *arguments, "--runs", str(here / "runs"), **options)


def text_of(prepared) -> Path:
    """The folder of the tiny corpus' text, among all that were prepared."""
    return next(folder for folder in prepared.glob("toy-*/text") if len(read_lines(folder / "train.de")) == 120)


def source_of_test(prepared) -> list[str]:
    return read_lines(text_of(prepared) / "test.de")


def test_what_is_typed_is_translated_as_the_test_set_was(trained, prepared):
    folder = only_run(trained)
    tested = detokenise(read_lines(folder / "hypotheses" / "test.txt"), "en")
    sentences = source_of_test(prepared)
    told = translate(trained, folder.name[-8:], *sentences[:5])
    assert told.returncode == 0, told.stderr
    assert told.stdout.splitlines() == tested[:5]
    assert f"{folder.name}, epoch " in told.stderr
    piped = translate(trained, "post_ln", input="\n".join([*sentences[5:7], "", sentences[7]]) + "\n")
    assert piped.stdout.splitlines() == [*tested[5:7], "", tested[7]], "line for line"


def test_words_are_those_of_the_corpus_wherever_the_checkpoint_says_it_is(trained, prepared, tmp_path):
    shutil.copytree(trained / "runs", tmp_path / "runs")
    folder = only_run(tmp_path)
    for path in (folder / "checkpoints").glob("*.pt"):
        state = torch.load(path, weights_only=True)
        state["cfg"]["task"]["data"] = str(tmp_path / "gone")
        torch.save(state, path)
        remove_checksum(path)
    sentence = source_of_test(prepared)[0]
    told = translate(tmp_path, folder.name[-8:], sentence)
    assert told.returncode == 0, told.stderr
    assert told.stdout == translate(trained, folder.name[-8:], sentence).stdout


def test_a_table_shows_each_sentence_beside_its_translation(trained, prepared, tmp_path):
    table, (first, second) = tmp_path / "translations.md", source_of_test(prepared)[:2]
    sentences = [f"a | b {first}", second]
    told = translate(trained, "post_ln", sentences[0], "", sentences[1], "--table", str(table))
    assert told.returncode == 0, told.stderr
    made_by, _, header, _, *rows = table.read_text().splitlines()
    assert only_run(trained).name in made_by
    assert [word.strip() for word in header.strip("|").split("|")] == ["de", "en"]
    told_of = [line for line in told.stdout.splitlines() if line]
    expected = [list(pair) for pair in zip(sentences, told_of, strict=True)]
    cells = [re.split(r"(?<!\\)\|", row.strip("|")) for row in rows]
    assert [[cell.strip().replace(r"\|", "|") for cell in row] for row in cells] == expected


def test_input_that_is_no_text_is_said_with_its_line(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"ein Satz\nS\xe4tze\n")))
    with pytest.raises(UserError, match="standard input:2"):
        list(_typed("de"))


def test_a_run_of_another_task_is_named(trained, tmp_path):
    shutil.copytree(trained / "runs", tmp_path / "runs")
    config = only_run(tmp_path) / "config.yaml"
    config.write_text(re.sub(r"^task: translation$", "task: masked_lm", config.read_text(), flags=re.MULTILINE))
    told = translate(tmp_path, "post_ln", "ein Satz")
    assert told.returncode == 2
    assert "is of task=masked_lm, and only task=translation translates" in told.stderr


def test_a_person_is_asked_for_sentences(trained, prepared):
    tested = detokenise(read_lines(only_run(trained) / "hypotheses" / "test.txt"), "en")
    person, terminal = pty.openpty()
    script = [str(ROOT / "scripts" / "translate.py"), "post_ln"]
    command = [str(warm_python()), *script, "--runs", str(trained / "runs")]
    asked = subprocess.Popen(command, stdin=terminal, stdout=terminal, env=os.environ | {"TERM": "dumb"})
    try:
        os.close(terminal)
        read_until(person, "de> ")
        os.write(person, b"\n")
        read_until(person, "de> ")  # again: an empty line is no sentence
        for sentence, translation in zip(source_of_test(prepared)[:2], tested, strict=False):
            os.write(person, f"{sentence}\n".encode())
            read_until(person, f"{translation}\r\nde> ")
        os.write(person, b"\x04")
        assert asked.wait(60) == 0
    finally:
        asked.kill()
        os.close(person)


def read_until(terminal: int, words: str) -> None:
    """Read what comes on the screen, up to these words."""
    screen = b""
    while words.encode() not in screen:
        assert select.select([terminal], [], [], 60)[0], screen
        screen += os.read(terminal, 4096)


def test_a_moved_corpus_is_found_where_it_is_said_to_be(trained, prepared, tmp_path):
    elsewhere = translate(trained, "post_ln", ".", "--data-dir", str(tmp_path))
    assert elsewhere.returncode == 0, elsewhere.stderr
    assert list(tmp_path.glob("toy-*/bin")), "prepared again"
    assert elsewhere.stdout == translate(trained, "post_ln", ".").stdout


def test_no_corpus_is_prepared_because_a_run_says_so(trained, tmp_path):
    copy = shutil.copytree(only_run(trained), tmp_path / "runs" / "adhoc" / only_run(trained).name)
    config, elsewhere = yaml.safe_load((copy / "config.yaml").read_text()), tmp_path / "elsewhere"
    (copy / "config.yaml").write_text(yaml.safe_dump(config | {"data_dir": str(elsewhere)}))
    done = translate(tmp_path, "post_ln", ".", cwd=ROOT)
    assert (done.returncode, done.stdout) == (2, "")
    assert "no such corpus; --data-dir=… says where it is" in done.stderr
    assert not elsewhere.exists()


def test_a_corpus_that_is_another_by_now_is_refused(trained, prepared, tmp_path):
    folder = only_run(trained)
    sha256 = json.loads((folder / "environment.json").read_text())["data"]["sha256"]
    for manifest in shutil.copytree(prepared, tmp_path / "data").glob("toy-*/manifest.json"):
        for text in manifest.parent.rglob("train.de"):  # before and after the cut into subwords, here one text
            text.write_text("".join(reversed(text.read_text().splitlines(keepends=True))))
        manifest.write_text(manifest.read_text().replace(sha256["train.de"], file_digest(text)))
    done = translate(trained, "post_ln", ".", "--data-dir", str(tmp_path / "data"))
    assert done.returncode == 2
    assert f"its text is not what {folder.name} was trained on" in done.stderr


@pytest.mark.parametrize("joined", ["true", "false"])
@pytest.mark.parametrize("subword", ["sentencepiece", "subword_nmt"])
def test_raw_sentences_are_cut_as_the_corpus_was(subword, joined, trained, prepared, tmp_path):
    raw = tmp_path / "raw"
    raw.mkdir()
    for path in text_of(prepared).iterdir():
        lines = detokenise(read_lines(path), path.suffix[1:])
        (raw / path.name).write_text("".join(f"{line.capitalize()}\n" for line in lines))
    data = ["data=plain", f"data.path={raw}", "data.name=raw", f"subword={subword}", "data.subword.size=120"]
    where = [f"runs_dir={tmp_path / 'runs'}", f"data_dir={tmp_path / 'data'}", f"data.joined_dictionary={joined}"]
    done = run_script("train", *TINY, *data, *where, "data.text.lowercase=true", "max_epoch=2", "lr_max=1e-2")
    assert done.returncode == 0, done.stderr
    tested = read_lines(only_run(tmp_path) / "hypotheses" / "test.txt")
    told = translate(tmp_path, "post_ln", *read_lines(raw / "test.de"))
    assert told.returncode == 0, told.stderr
    assert told.stdout.splitlines() == detokenise(tested, "en")


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


def damage(checkpoint: Path) -> None:
    with checkpoint.open("r+b") as file:
        file.seek(checkpoint.stat().st_size // 2)
        file.write(b"\0" * 200)


def foreign_archive(checkpoint: Path) -> None:
    with ZipFile(checkpoint, "w") as archive:
        archive.writestr("a", "b")
    remove_checksum(checkpoint)


def foreign_tensors(checkpoint: Path) -> None:
    torch.save({"weights": torch.zeros(3)}, checkpoint)
    remove_checksum(checkpoint)


@pytest.mark.parametrize(
    ("harm", "said"),
    [(damage, "not what was saved"), (foreign_archive, "no checkpoint"), (foreign_tensors, "no checkpoint")],
)
def test_a_checkpoint_that_is_damaged_or_anothers_is_refused(trained, tmp_path, harm, said):
    copy = shutil.copytree(only_run(trained), tmp_path / "runs" / "adhoc" / only_run(trained).name)
    for checkpoint in (copy / "checkpoints").glob("checkpoint[0-9].pt"):
        harm(checkpoint)
    done = translate(tmp_path, "post_ln", ".", cwd=ROOT)
    assert done.returncode == 2
    assert said in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(("name", "content"), [("config.yaml", b"\xff\xfe"), ("environment.json", b'{"data": 5}')])
def test_damaged_words_about_a_run_are_a_line_or_no_matter(trained, tmp_path, name, content):
    copy = shutil.copytree(only_run(trained), tmp_path / "runs" / "adhoc" / only_run(trained).name)
    (copy / name).write_bytes(content)
    done = translate(tmp_path, "post_ln", ".", cwd=ROOT)
    assert (done.returncode, "malformed" in done.stderr) in ((0, False), (2, True))
    assert "Traceback" not in done.stderr


def test_weights_of_other_code_are_translated_with_a_warning(trained, tmp_path):
    copy = shutil.copytree(only_run(trained), tmp_path / "runs" / "adhoc" / only_run(trained).name)
    assert "warning" not in translate(tmp_path, "post_ln", ".", cwd=ROOT).stderr
    environment = json.loads((copy / "environment.json").read_text())
    environment["code"]["plugin/placements/post_ln.py"] = "0"
    (copy / "environment.json").write_text(json.dumps(environment))
    done = translate(tmp_path, "post_ln", ".", cwd=ROOT)
    assert done.returncode == 0
    said = f"warning: {copy.name} was trained by other code than is here (plugin/placements/post_ln.py)"
    assert [line.startswith(said) for line in done.stderr.splitlines()].count(True) == 1


def test_options_may_stand_anywhere_and_blank_is_blank(trained):
    plain = translate(trained, "post_ln", "ja", "--beam", "2").stdout
    assert translate(trained, "post_ln", "--beam", "2", "", "ja").stdout == f"\n{plain}"


def test_a_run_without_checkpoints_cannot(trained, tmp_path):
    folder = tmp_path / "runs" / "adhoc" / only_run(trained).name
    folder.mkdir(parents=True)
    (folder / "config.yaml").write_text((only_run(trained) / "config.yaml").read_text())
    (folder / "status.json").write_text('{"state": "running", "why": "", "updates": 0}')
    done = translate(tmp_path, "post_ln", ".", cwd=ROOT)
    assert done.returncode == 2
    assert "has no checkpoint to translate with" in done.stderr
