"""A prepared corpus is complete or absent, and equal settings give equal corpora."""

import io
import json
import os
import re
import shutil
import signal
import sys
import tarfile
import time

import pytest
from helpers import ROOT, TINY, TINY_CORPUS, error_of, run_script
from hypothesis import given, settings
from hypothesis import strategies as st
from omegaconf import OmegaConf
from omegaconf.errors import OmegaConfBaseException
from warm_commands import WarmProcess

import lnexp.corpora
from lnexp.cli import describe
from lnexp.configuration import check_and_resolve, compose
from lnexp.corpora.prepare import corpus_folder, prepare
from lnexp.corpora.text import SPLITS, read_lines
from lnexp.errors import UserError
from lnexp.hashing import file_digest
from lnexp.runs.identity import identity

pytestmark = pytest.mark.slow


@pytest.fixture
def folder(tmp_path):
    """A corpus that somebody has tokenised."""
    source = tmp_path / "mine"
    source.mkdir()
    for split, count in zip(SPLITS, (60, 7, 5), strict=True):
        for language in ("de", "en"):
            lines = [f"{split} {language} neues-te unterirdischste {index % 9} ." for index in range(count)]
            (source / f"{split}.{language}").write_text("\n".join(lines) + "\n")
    return source


def names(folder):
    return [path.name for path in folder.iterdir()]


def tokenized(folder, *overrides):
    return compose(["data=tokenized", f"data.path={folder}", "data.subword.size=10", *overrides]).data


def test_toy_is_prepared_once_and_its_manifest_is_true(tmp_path):
    data = compose(TINY).data
    corpus = prepare(data, tmp_path)
    assert corpus.manifest["pairs"] == {"train": 120, "valid": 20, "test": 20}
    assert len(corpus.lines("train", "de")) == 120
    before = (corpus.folder / "manifest.json").stat().st_mtime_ns
    assert prepare(data, tmp_path).folder == corpus.folder
    assert (corpus.folder / "manifest.json").stat().st_mtime_ns == before
    assert names(tmp_path) == [corpus.folder.name], "nothing is left aside"


def test_a_tokenised_folder_gets_joint_subwords(folder, tmp_path):
    corpus = prepare(tokenized(folder), tmp_path / "data")
    assert corpus.manifest["pairs"] == {"train": 60, "valid": 7, "test": 5}
    assert "@@" in (corpus.bin / "dict.de.txt").read_text()
    assert corpus.lines("test", "en")[0] == "test en neues-te unterirdischste 0 .", "text is kept without subwords"
    assert (corpus.folder / "bpe.codes").read_text().startswith("#version")
    tokens = corpus.manifest["tokens"]["train"]["de"]
    assert tokens["words"] == 60 * 6
    assert tokens["subwords"] == len((corpus.folder / "subwords/train.de").read_text().split())


@pytest.mark.parametrize("subword", ["none", "sentencepiece", "subword_nmt"])
def test_any_corpus_takes_any_subwords(folder, tmp_path, subword):
    sizes = {"none": [], "sentencepiece": ["data.subword.size=60"], "subword_nmt": ["data.subword.size=10"]}
    data = compose(["data=plain", f"subword={subword}", f"data.path={folder}", *sizes[subword]]).data
    assert prepare(data, tmp_path / "data").lines("test", "en")[0] == "test en neues-te unterirdischste 0 ."


def test_the_same_text_elsewhere_is_the_same_corpus_and_run(folder, tmp_path):
    moved = tmp_path / "moved"
    shutil.copytree(folder, moved)
    here, there = (compose(["data=tokenized", f"data.path={path}"]) for path in (folder, moved))
    assert identity(here) == identity(there)
    assert prepare(tokenized(folder), tmp_path / "data").folder == prepare(tokenized(moved), tmp_path / "data").folder
    (moved / "train.de").write_text((moved / "train.de").read_text().replace("neues", "altes"))
    assert identity(here) != identity(compose(["data=tokenized", f"data.path={moved}"]))


def test_another_publisher_is_the_same_corpus(tmp_path):
    usual, other = (
        compose(["data=iwslt14"]),
        compose(["data=iwslt14", "data.text.downloads.base_url=https://else.where"]),
    )
    assert identity(usual) == identity(other)


def test_a_fault_in_the_text_leaves_nothing_behind(folder, tmp_path):
    (folder / "valid.en").write_text("one line\n")
    with pytest.raises(UserError, match=r"valid\.de has 7 lines, .*valid\.en has 1"):
        prepare(tokenized(folder), tmp_path / "data")
    assert names(tmp_path / "data") == []


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        (["data=tokenized", "data.path=NOWHERE"], "NOWHERE: no such folder"),
        (["data=tokenized", "data.path=MINE", "data.source_lang=fr"], "MINE: no train.fr, valid.fr, test.fr in it"),
        (["data=tokenized", "data.path=MINE", "data.subword.codes=NOWHERE"], "NOWHERE: no such file"),
        (["data=wmt14_mini"], "data.path: not set; say data.path=…"),
    ],
)
def test_what_is_missing_is_named(folder, tmp_path, overrides, message):
    def place(text: str) -> str:
        return text.replace("NOWHERE", str(tmp_path / "nowhere")).replace("MINE", str(folder))

    with pytest.raises(OmegaConfBaseException) as caught:
        prepare(compose([place(override) for override in overrides]).data, tmp_path / "data")
    assert describe(caught.value) == place(message)


def findings(stdout: str) -> list[str]:
    """What is said on every machine; one that takes long also says how fast it is."""
    return [line for line in stdout.splitlines() if not line.endswith(" a second)")]


def test_a_part_of_iwslt14_is_recognised_and_called_a_part(real_text, tmp_path):
    shutil.unpack_archive(
        real_text / "iwslt14-tokenized-subset.tar.xz", tmp_path
    )  # tarfile has its filters since Python 3.11.4 alone
    done = run_script(
        "prepare_data", "data=tokenized", f"data.path={tmp_path / 'iwslt14-tokenized-subset'}", "subword=none",
        f"data_dir={tmp_path / 'data'}",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert findings(done.stdout)[0] == "51,777 of 160,239 training pairs, 7,283 valid and 6,750 test"


def test_multi30k_comes_from_a_mirror(real_text, tmp_path):
    done = run_script(
        "prepare_data", "data=multi30k", f"data_dir={tmp_path}", env={"LNEXP_MIRROR": str(real_text / "mirror")}
    )
    assert done.returncode == 0, done.stderr
    assert findings(done.stdout)[0] == "29,000 training pairs, 1,014 valid and 1,000 test"
    (manifest,) = tmp_path.glob("multi30k-*/manifest.json")
    source = json.loads(manifest.read_text())["sources"]["data/task1/raw/train.de.gz"]
    assert source["address"].startswith("https://raw.githubusercontent.com/multi30k/dataset/master/")
    assert source["checked_against"] == ["bytes", "sha256"]


def test_a_part_of_wmt14_takes_the_road_of_wmt14(real_text, tmp_path):
    done = run_script(
        "prepare_data", "data=wmt14_mini", f"data.path={real_text / 'wmt14-mini.tar.xz'}", "data.subword.size=500",
        f"data_dir={tmp_path}",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    lines = findings(done.stdout)
    assert lines[0].startswith("train: 33,071 pairs read; left out: ")
    assert lines[1].endswith(" training pairs (all of WMT14 En-De: about 4.5 million), 3,000 valid and 3,003 test")


def campaign_archive(path):
    """What IWSLT14's archive looks like, with other text in it."""
    members = {"README": "..."}
    for language, word in (("de", "Satz"), ("en", "sentence")):
        head = "<url>http://x</url>\n<talkid>1</talkid>\n<title>Ein Titel</title>\n"
        members[f"train.tags.de-en.{language}"] = head + "".join(f"{word} {n}, U.S.\n" for n in range(1, 100))
        for name in ("TED.dev2010", "TEDX.dev2012", "TED.tst2010", "TED.tst2011", "TED.tst2012"):
            segments = "".join(f'<seg id="{n}"> {name} {word} {n}’s. </seg>\n' for n in (1, 2))
            members[f"IWSLT14.{name}.de-en.{language}.xml"] = f"<mteval>\n<doc>\n{segments}</doc>\n</mteval>\n"
    with tarfile.open(path, "w:gz") as archive:
        for name, text in members.items():
            info = tarfile.TarInfo(f"de-en/{name}")
            info.size = len(text.encode())
            archive.addfile(info, io.BytesIO(text.encode()))


def test_iwslt14_is_prepared_end_to_end(tmp_path):
    (tmp_path / "mirror").mkdir()
    campaign_archive(tmp_path / "mirror" / "de-en.tgz")
    command = ["prepare_data", "data=iwslt14", "data.subword.size=60", f"data_dir={tmp_path / 'data'}"]
    env = {"LNEXP_MIRROR": str(tmp_path / "mirror")}
    done = run_script(*command, env=env)
    assert done.returncode == 2
    assert "de-en.tgz: " in done.stderr
    assert "bytes, not 19,982,877" in done.stderr
    command += ["data.text.downloads.files={de-en.tgz: {bytes: null, md5: null}}"]
    done = run_script(*command, env=env)
    assert "this differs from IWSLT14 De-En: train has 96 pairs, not 160,239; " in error_of(done)
    done = run_script(*command, "data.text.known_as=null", env=env)
    assert done.returncode == 0, done.stderr
    (corpus,) = (tmp_path / "data").glob("iwslt14-*")
    text = {path.name: path.read_text().splitlines() for path in (corpus / "text").iterdir()}
    assert text["train.de"][:2] == ["ein titel", "satz 1 , u.s ."]
    assert text["valid.en"][0] == "sentence 22 , u.s .", "the 23rd line, for the title is the first"
    assert [line.split()[0] for line in text["test.de"][::2]] == [
        "ted.dev2010", "tedx.dev2012", "ted.tst2010", "ted.tst2011", "ted.tst2012",
    ]  # fmt: skip
    assert text["test.en"][1] == "ted.dev2010 sentence 2 &apos;s ."


def test_a_full_disk_is_said_and_leaves_nothing(folder, tmp_path):
    command = [
        "prepare_data",
        "data=tokenized",
        f"data.path={folder}",
        "data.subword.size=10",
        f"data_dir={tmp_path / 'data'}",
    ]
    done = run_script(*command, largest_file=2_000)
    full = r"error: (File too large|No space left on device): .*/data/tokenized-[0-9a-f]{8}"
    assert re.fullmatch(full, error_of(done))
    assert names(tmp_path / "data") == []
    assert run_script(*command).returncode == 0


@pytest.mark.parametrize("kill", [os.killpg, os.kill], ids=["of all its processes", "of the first process alone"])
def test_a_kill_leaves_nothing_that_a_later_call_trusts(tmp_path, kill):
    source = tmp_path / "in"
    source.mkdir()
    for split in SPLITS:
        for language in ("de", "en"):
            (source / f"{split}.{language}").write_text(
                "".join(f"Wort{number} und w{number * 7}.\n" for number in range(9_000 if split == "train" else 10))
            )
    overrides = ["data=plain", f"data.path={source}", "data.subword.size=50", f"data_dir={tmp_path / 'data'}"]
    process = WarmProcess([str(ROOT / "scripts/prepare_data.py"), *overrides], start_new_session=True)
    while not any((tmp_path / "data").glob(".plain-*/text/train.de")):
        assert process.poll() is None, "the corpus was prepared too quickly to be killed"
        time.sleep(0.005)
    kill(process.pid, signal.SIGKILL)
    process.wait()
    assert not list((tmp_path / "data").glob("plain-*"))
    assert list((tmp_path / "data").glob(".plain-*"))
    done = run_script("prepare_data", *overrides)
    assert done.stdout.splitlines()[-2] == "9,000 training pairs, 10 valid and 10 test"
    assert len(names(tmp_path / "data")) == 1, "what the killed one left is gone"


def contents(folder):
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("subword", ["sentencepiece", "subword_nmt"])
def test_the_same_text_gives_the_same_bytes_wherever_and_by_however_many(folder, tmp_path, subword, monkeypatch):
    made = []
    for cores, place in ((1, "one"), (2, "a-longer-name")):
        monkeypatch.setattr("lnexp.corpora.context.available_cores", lambda cores=cores: cores)
        cfg = compose(["data=tokenized", f"subword={subword}", f"data.path={folder}", "data.subword.size=30"])
        made.append(contents(prepare(cfg.data, tmp_path / place).folder))
    assert made[0].keys() == made[1].keys()
    for name, content in made[0].items():
        assert content == made[1][name], name


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ("data.subword.size=abc", "data.subword.size=abc: must be a whole number"),
        ("data.subword.size=0", "data.subword.size=0: must be at least 1"),
        ("data.subword.most_frequent=-1", "data.subword.most_frequent=-1: must be"),
        ("data.subword.model={folder}/train.de", "train.de: not a SentencePiece model"),
        ("+data.text.fooo=1", "data.text.fooo: no such option"),
        ("data.text.lowercase=maybe", "data.text.lowercase=maybe: must be true or false"),
        ("data.name=a/b", "data.name=a/b: must be at most 100 letters"),
        ("data.name=..", "data.name=..: must be at most 100 letters"),
    ],
)
def test_an_option_that_cannot_be_meant_is_refused_in_a_line(folder, tmp_path, option, message):
    cfg = compose(["data=tokenized", "subword=sentencepiece", f"data.path={folder}", option.format(folder=folder)])
    with pytest.raises(UserError) as caught:
        prepare(cfg.data, tmp_path / "data")
    assert message in str(caught.value)
    assert names(tmp_path / "data") == [] if (tmp_path / "data").exists() else True


@pytest.mark.parametrize(
    ("part", "target"),
    [
        ("subword", "subprocess.Popen"),
        ("subword", "lnexp.corpora.subwords.sentencepiece.Path"),
        ("subword", "lnexp.corpora.subwords.none.Whole.segment"),
        ("subword", "lnexp.corpora.subwords.gone.Gone"),
        ("text", "os.system"),
        ("text", "lnexp.corpora.prepare.shutil.rmtree"),
        ("text", "lnexp.corpora.prepare.prepare"),
        ("text", "lnexp.corpora.text.write"),
    ],
)
def test_a_target_is_what_a_file_of_ours_defines(folder, tmp_path, part, target):
    data = tokenized(folder, f"data.{part}._target_={target}")
    with pytest.raises(UserError, match=rf"data\.{part}\._target_={re.escape(target)}: must be lnexp\.corpora"):
        prepare(data, tmp_path)


MADE = """{imports}
def write(folder, context, *, pairs):
    for split in ("train", "valid", "test"):
        (folder / f"{{split}}.de").write_text("ein Satz\\n" * pairs)
        (folder / f"{{split}}.en").write_text("a sentence\\n" * (pairs + {more}))
"""


@pytest.mark.parametrize(
    ("imports", "more", "options", "message"),
    [
        ("import nosuchpackage", 0, {"pairs": 9}, r"lnexp\.corpora\.made_here: No module named 'nosuchpackage'"),
        ("", 0, {}, r"data\.text: missing a required argument: 'pairs'"),
        ("", 1, {"pairs": 9}, r"train: 9 lines of de and 10 lines of en"),
    ],
)
def test_mistakes_in_a_file_of_ones_own_are_said(tmp_path, monkeypatch, imports, more, options, message):
    (tmp_path / "made_here.py").write_text(MADE.format(imports=imports, more=more))
    monkeypatch.setattr(lnexp.corpora, "__path__", [*lnexp.corpora.__path__, str(tmp_path)])
    text = {"_target_": "lnexp.corpora.made_here.write", **options}
    data = OmegaConf.merge(compose(TINY).data, {"name": "made"})
    data.text = text
    try:
        with pytest.raises(UserError, match=message):
            prepare(data, tmp_path / "data")
    finally:
        sys.modules.pop("lnexp.corpora.made_here", None)
    assert names(tmp_path / "data") == []


def test_files_of_a_config_of_ones_own_make_the_corpus_theirs(folder, tmp_path):
    """Also where the config starts from ``_parallel`` and states no checksum."""
    own = [
        "data=multi30k",
        "data.text.downloads=null",
        f"data.text.root={folder}",
        "data.source_lang=de",
        "data.target_lang=en",
    ]
    splits = ", ".join(f"{split}: [{{source: {split}.de, target: {split}.en}}]" for split in SPLITS)
    first = compose([*own, f"data.text.splits={{{splits}}}"]).data
    one = corpus_folder(first, tmp_path)
    (folder / "train.de").write_text((folder / "train.de").read_text().replace("neues", "altes"))
    assert corpus_folder(compose([*own, f"data.text.splits={{{splits}}}"]).data, tmp_path) != one


def test_merges_that_are_none_are_refused(folder, tmp_path):
    overrides = [
        "data=tokenized",
        "subword=subword_nmt",
        f"data.path={folder}",
        f"data.subword.codes={folder}/train.de",
    ]
    with pytest.raises(UserError, match=r"train\.de: not a file of merges"):
        prepare(compose(overrides).data, tmp_path / "data")


def test_where_merges_lie_does_not_make_another_corpus(folder, tmp_path):
    found = []
    for name in ("here", "there"):
        (tmp_path / name).write_text("#version: 0.2\na b\n")
        cfg = compose(
            ["data=tokenized", "subword=subword_nmt", f"data.path={folder}", f"data.subword.codes={tmp_path / name}"]
        )
        found.append(prepare(cfg.data, tmp_path / "data").folder)
    assert found[0] == found[1]


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda corpus: (corpus / "bin/train.de-en.de.bin").unlink(), "train.de-en.de.bin: missing; remove "),
        (lambda corpus: (corpus / "text/test.en").write_text("x\n"), "test.en: 2 bytes, not "),
        (lambda corpus: os.mkfifo(corpus / "bin/more.idx"), "more.idx: is none of the files that were prepared"),
        (lambda corpus: (corpus / "text/more").write_text("x"), "more: is none of the files that were prepared"),
        (lambda corpus: change_settings(corpus, lowercase=True), "manifest.json: is of a corpus with other settings; "),
        (lambda corpus: (corpus / "manifest.json").unlink(), "manifest.json: missing or malformed ("),
        (lambda corpus: (corpus / "manifest.json").write_text("{}"), "manifest.json: missing or malformed ("),
    ],
)
def test_a_damaged_corpus_is_not_trusted(folder, tmp_path, damage, message):
    corpus = prepare(tokenized(folder), tmp_path / "data").folder
    damage(corpus)
    with pytest.raises(UserError) as caught:
        prepare(tokenized(folder), tmp_path / "data")
    assert message in str(caught.value)
    assert "prepared again" in str(caught.value)


def test_hidden_files_of_others_are_no_damage(folder, tmp_path):
    corpus = prepare(tokenized(folder), tmp_path / "data").folder
    (corpus / "text/.ipynb_checkpoints").mkdir()
    assert prepare(tokenized(folder), tmp_path / "data").folder == corpus


def overwrite(path):
    """Change a byte of a file, and leave its size."""
    content = path.read_bytes()
    path.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))


@pytest.mark.parametrize("name", ["text/test.en", "bin/train.de-en.de.bin", "bin/dict.de.txt"])
def test_a_file_that_was_overwritten_by_one_of_its_size_is_found(folder, tmp_path, name):
    corpus = prepare(tokenized(folder), tmp_path / "data").folder
    overwrite(corpus / name)
    with pytest.raises(UserError, match=rf"{name}: is not what was prepared .*; remove .* to have it prepared again"):
        prepare(tokenized(folder), tmp_path / "data")


def change_settings(corpus, **changed) -> None:
    """Make the manifest of a corpus one of other settings."""
    path = corpus / "manifest.json"
    manifest = json.loads(path.read_text())
    path.write_text(json.dumps(manifest | {"settings": manifest["settings"] | changed}))


def state_digests(corpus, digests) -> None:
    """Make the manifest of a corpus state these digests of its files."""
    path = corpus / "manifest.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"digests": digests}))


def test_a_manifest_that_leaves_digests_out_vouches_for_nothing(folder, tmp_path):
    corpus = prepare(tokenized(folder), tmp_path / "data").folder
    state_digests(corpus, {})
    with pytest.raises(UserError, match=r"is not what was prepared .*; remove .* to have it prepared again"):
        prepare(tokenized(folder), tmp_path / "data")


def test_the_other_direction_of_a_named_corpus_swaps_its_files(real_text, tmp_path, monkeypatch):
    monkeypatch.setenv("LNEXP_MIRROR", str(real_text / "mirror"))
    plain = ["data=multi30k", "data.text.tokenizer=none", "subword=none"]
    there = prepare(compose(plain).data, tmp_path)
    back = prepare(compose([*plain, "data.source_lang=en", "data.target_lang=de"]).data, tmp_path)
    for language in ("de", "en"):
        assert there.lines("test", language) == back.lines("test", language)
    assert there.lines("train", "de") == back.lines("train", "de")


def test_a_language_is_not_translated_to_itself(folder, tmp_path):
    with pytest.raises(UserError, match=r"data\.target_lang=de: must be another language"):
        prepare(tokenized(folder, "data.target_lang=de"), tmp_path / "data")


def test_a_language_that_a_corpus_does_not_have_is_named(tmp_path):
    with pytest.raises(UserError, match=r"data\.source_lang, data\.target_lang: the corpus has no train in fr"):
        prepare(compose([TINY_CORPUS, "data.source_lang=fr"]).data, tmp_path)


word = st.text(st.characters(exclude_categories=["C", "Z"], exclude_characters="▁"), min_size=1, max_size=5)
line = st.lists(word, min_size=1, max_size=8).map(" ".join)


@settings(max_examples=12)
@given(pairs=st.lists(st.tuples(line, line), min_size=1, max_size=12), subword=st.sampled_from(["none", "subword_nmt"]))
def test_preparing_random_text_is_deterministic_and_loses_nothing(tmp_path_factory, pairs, subword):
    here = tmp_path_factory.mktemp("random")
    for split in SPLITS:
        for language, lines in zip(("de", "en"), zip(*pairs, strict=True), strict=True):
            # aa: something to merge for subword_nmt in any text
            (here / f"{split}.{language}").write_text("".join(f"aa aa {text}\n" for text in lines), encoding="utf-8")
    size = ["data.subword.size=5"] if subword == "subword_nmt" else []
    data = compose(
        ["data=tokenized", f"subword={subword}", f"data.path={here}", *size, "data.text.bad_lines=keep"]
    ).data
    one, other = (prepare(data, here / name) for name in ("one", "other"))
    assert contents(one.folder) == contents(other.folder)
    assert one.lines("test", "de") == [f"aa aa {source}" for source, _ in pairs]
    joined = [re.sub(r"@@( |$)", "", text) for text in read_lines(one.folder / "subwords/test.de")]
    if subword == "subword_nmt" and not any("@@" in source for source, _ in pairs):
        assert joined == one.lines("test", "de"), "cut and joined again it is the same"


def test_a_corrupt_index_is_refused(tmp_path):
    cfg = compose([*TINY, f"data_dir={tmp_path}"])
    corpus = prepare(cfg.data, cfg.data_dir)
    index = corpus.bin / "train.de-en.de.idx"
    content = index.read_bytes()
    index.write_bytes(content[:60] + b"\xff" + content[61:])
    state_digests(corpus.folder, corpus.manifest["digests"] | {f"bin/{index.name}": file_digest(index)})
    with pytest.raises(UserError, match=r"train\.de-en\.de\.idx: damaged \(.+\); remove .* to have it prepared again"):
        prepare(cfg.data, cfg.data_dir)


@pytest.mark.parametrize("side", ["source", "target"])
def test_a_language_names_files_and_is_no_path(tmp_path, side):
    cfg = check_and_resolve(compose([f"data.{side}_lang=x/../../../y"]))
    with pytest.raises(UserError, match=rf"data.{side}_lang=x/\.\./.*: must be at most 100 letters"):
        prepare(cfg.data, tmp_path / "data")
    assert list(tmp_path.iterdir()) == []
