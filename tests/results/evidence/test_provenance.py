"""What stands behind a folder of results."""

import json
import shlex
import tarfile
from pathlib import Path

import pandas as pd
import pytest

from lnexp.configuration import check_and_resolve, compose
from lnexp.corpora.prepare import prepare
from lnexp.corpora.text import SPLITS
from lnexp.numerics import numerics_of
from lnexp.paths import RESULTS_DIR
from lnexp.recipes.load import load_recipe
from lnexp.result_tables import result_folders
from lnexp.results.evidence.collect import collect
from lnexp.results.evidence.provenance import of_probe, of_runs, public_manifest, read_provenance, write_provenance
from lnexp.results.evidence.run_result import RunResult
from lnexp.runs.folder import RunFolder
from lnexp.runs.identity import identity
from lnexp.runs.status import DONE
from lnexp.tasks import task_of

pytestmark = pytest.mark.slow

EMBEDDED = ("toy", "bert_toy")
SMALL = ["profile=small", "scale.toy={train_pairs: 40, valid_pairs: 10, test_pairs: 10}", "n_seeds=2"]


def finish(words: list[str], run: RunResult, host: str, data: dict) -> None:
    """A folder as a run leaves it."""
    folder = RunFolder.of(compose([*words, *run.job.overrides]))
    folder.path.mkdir(parents=True)
    measured = {"valid_bleu": 5.0, "valid_nll": 1.0, "valid_loss": 1.5, "lr": 0.1, "seconds": 1.0}
    folder.append({"kind": "epoch", "epoch": 1, "update": 60, **measured})
    folder.append({"kind": "end", "test_bleu": 4.0})
    folder.write_environment({"cpu": "a processor", "device": "cpu", "host": host, "git": {}, "data": data})
    folder.set_status("finished", updates=60)


@pytest.fixture
def words(where) -> list[str]:
    return [*SMALL, *where]


@pytest.fixture
def data(words) -> dict:
    cfg = compose(words)
    return prepare(cfg.data, cfg.data_dir).manifest


def finished(words: list[str], data: dict) -> list[RunResult]:
    for number, run in enumerate(collect(load_recipe("fig2a"), words)[:3]):
        finish(words, run, f"host{number}", {key: data[key] for key in ("pairs", "sha256")})
    return collect(load_recipe("fig2a"), words)


def test_a_command_trains_the_very_run(words, data):
    said = of_runs(finished(words, data))["runs"]
    assert len(said) == 3, "runs that are not over stand behind nothing"
    for name, run in said.items():
        python, script, *options = shlex.split(run["command"])
        assert (python, script) == ("python", "scripts/train.py")
        assert identity(compose(options)) == name
        assert run["settings"]["seed"] == run["settings"]["order_seed"] == int(options[-3].removeprefix("seed="))


def test_an_order_of_the_data_that_was_stated_stays_where_it_is_the_first_seed(words, data):
    runs = finished([*words, "order_seed=21"], data)
    content = of_runs(runs)
    assert len({run.job.seed for run in runs}) > 1
    assert content["settings"]["order_seed"] == 21
    for name, run in content["runs"].items():
        assert identity(compose(shlex.split(run["command"])[2:])) == name


def test_what_runs_share_is_said_once_and_no_host_is_named(words, data, tmp_path):
    write_provenance(tmp_path, of_runs(finished(words, data)), range(21, 31))
    content = json.loads((tmp_path / "provenance.json").read_text())
    assert "host" not in (tmp_path / "provenance.json").read_text()
    assert len(content["environments"]) == len(content["data"]) == 1
    assert content["settings"]["model.encoder_layers"] == 6
    read = read_provenance(tmp_path)
    assert {run.settings["lr_schedule.form"] for run in read.runs.values()} == {"decoupled"}
    assert {run.environment["cpu"] for run in read.runs.values()} == {"a processor"}


def test_the_manifest_is_the_corpus_that_the_runs_saw(words, data):
    assert of_runs(finished(words, data))["data"] == [public_manifest(data)]


def test_a_corpus_that_is_another_by_now_or_gone_is_not_described(words, data):
    seen = data | {"sha256": {"train.de": "0" * 64}}
    assert of_runs(finished(words, seen))["data"] == [{key: seen[key] for key in ("pairs", "sha256")}]


def test_a_manifest_tells_readers_what_lies_where_but_not_on_whose_disk():
    text = {"root": "/home/me/x.tar", "splits": {}}
    sources = {"x.tar": {"address": "/home/me/x.tar"}, "y.tar": {"address": "https://example.org/y.tar"}}
    text["downloads"] = {"base_url": "https://example.org", "corpus": "x"}
    subword = {"model": "/home/me/bpe.model", "codes": "/home/me/codes", "size": 10}
    settings = {"path": "/home/me/x.tar", "name": "x", "text": text, "subword": subword}
    said = public_manifest({"settings": settings, "sources": sources, "bytes": {"text/a": 1}, "pairs": {}})
    assert "/home" not in json.dumps(said)
    assert [source["address"] for source in said["sources"].values()] == ["x.tar", "https://example.org/y.tar"]
    assert settings["path"] == "/home/me/x.tar"
    assert said["settings"]["text"]["downloads"] == {"base_url": "https://example.org", "corpus": "x"}
    assert said["settings"]["subword"] == {"size": 10}


@pytest.fixture
def files(tmp_path) -> Path:
    """A folder that every corpus of one language can be made of, and pairs of GLUE's form."""
    here = tmp_path / "somebody"
    (here / "MRPC").mkdir(parents=True)
    sentences = [f"The dog number {number} sleeps." for number in range(30)]
    for split in SPLITS:
        (here / f"{split}.en").write_text("".join(f"{sentence}\n\n" for sentence in sentences))
    (here / "all.txt").write_text("".join(f"{sentence}\n\n" for sentence in sentences))
    with tarfile.open(here / "both.tar.xz", "w:xz") as archive:
        for language in ("de", "en"):
            (here / f"all.{language}").write_text("".join(f"{language} {n} {n // 3}\n" for n in range(30)))
            archive.add(here / f"all.{language}", f"both/all.{language}")
    rows = "1\tOne dog.\tA dog.\n0\tOne dog.\tA cat.\n"
    for split in ("train", "dev"):
        (here / "MRPC" / f"{split}.tsv").write_text(f"Quality\t#1 String\t#2 String\n{rows}")
    return here


BERT_TEXT = [
    "data=bert_text", "data.text.splits={train: [train.en], valid: [valid.en], test: [test.en]}",
    "data.text.tokenized=[]", "data.text.by_pivot.path=both.tar.xz",
]  # fmt: skip
PAIRS = ["task=sentence_pairs", "start.epoch=0"]


@pytest.mark.parametrize(
    "options",
    [
        ["task=masked_lm", "data=bert_plain"],
        ["task=masked_lm", "data=wikipedia_books", "data.text.hold_out=5"],
        ["task=masked_lm", *BERT_TEXT],
        [*PAIRS, "data=bert_plain", "pairs=mrpc", "data.glue=HERE"],
        [*PAIRS, "data=bert_toy", "pairs=paraphrases", SMALL[1]],
    ],
    ids=["bert_plain", "wikipedia_books", "bert_text", "mrpc", "paraphrases"],
)
def test_a_manifest_of_every_corpus_of_one_language_names_no_folder(files, tmp_path, options):
    place = [] if "data=bert_toy" in options else [f"data.path={files}"]
    said = [*options, "subword=none", *place, f"data_dir={tmp_path / 'data'}"]
    cfg = check_and_resolve(compose([word.replace("HERE", str(files)) for word in said]))
    corpus = task_of(cfg).prepare(cfg.data, cfg.data_dir)
    shown = public_manifest(corpus.manifest)
    assert str(files) not in json.dumps(shown)
    assert shown.get("sources") == corpus.manifest.get("sources")
    write_provenance(tmp_path, of_probe(corpus.manifest, {"cpu": "a processor"}), range(1))
    assert read_provenance(tmp_path).data == [shown]


def test_a_manifest_of_a_task_without_text_is_shown_too():
    assert public_manifest({"settings": {"name": "x"}, "pictures": {"train": 3}}) == {
        "settings": {"name": "x"},
        "pictures": {"train": 3},
    }


def test_nothing_is_read_of_nothing(tmp_path):
    assert read_provenance(tmp_path).runs == {}


@pytest.mark.parametrize("folder", result_folders(RESULTS_DIR), ids=lambda path: "/".join(path.parts[-3:]))
def test_every_published_run_that_is_over_has_its_command_and_machine(folder):
    read = read_provenance(folder)
    assert read.environments
    assert all(environment["cpu"] for environment in read.environments)
    assert all(run.command for run in read.runs.values())
    if (folder / "runs.csv").exists():
        table = pd.read_csv(folder / "runs.csv", dtype={"identity": str})
        assert set(read.runs) == set(table[table["status"].isin(DONE)]["identity"])
        assert all(manifest["sha256"] for manifest in read.data)


@pytest.mark.parametrize(
    "folder", [path for path in result_folders(RESULTS_DIR) if path.parts[-2] in EMBEDDED], ids=str
)
def test_a_published_command_names_the_published_run_at_its_version_of_the_numerics(folder):
    """Text that is not ours to ship is not here, so of the embedded corpus alone."""
    runs = read_provenance(folder).runs
    starts = [name for name, run in runs.items() if "start.recipe=" in run.command]
    for name in {*list(runs)[:1], *starts[-1:]}:
        options = shlex.split(runs[name].command)[2:]
        assert identity(compose(options), numerics_of(runs[name].environment)) == name
