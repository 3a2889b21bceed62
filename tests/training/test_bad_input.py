"""A mistake gets one clear line, a non-zero exit, and leaves nothing that a later run would trust."""

import pytest
from helpers import TINY, error_of, only_run, run_script

pytestmark = pytest.mark.slow

ONE_LINERS = [
    (["model.decoder_attention_heads=0"], "model.decoder_attention_heads=0: must be at least 1"),
    (["model=pre_lnn"], "model=pre_lnn: no such model; did you mean pre_ln"),
    (["model=[admin,rezero]"], "model=[admin,rezero]: must be one; a placement is the whole of how a block is joined"),
    (["-m", "optimizer=[adam,sgd]"], "optimizer=[adam,sgd]: must be one; for a sweep say -m"),
    (["optimizer=adma"], "optimizer=adma: no such optimizer; did you mean adam"),
    (["data=toyy"], "data=toyy: no such data; did you mean toy"),
    (["lr_schedule=inverse"], "lr_schedule=inverse: no such lr_schedule; did you mean inverse_sqrt"),
    (["lr_mxa=1"], "lr_mxa: no such option; did you mean lr_max"),
    (["model=mix_ln", "model.mix_ln_beta=1"], "; one of your own must be listed in configs/model/mix_ln.yaml"),
    (["model=mix_ln", "model.mix_ln_alfa=1"], "model.mix_ln_alfa: no such option; did you mean model.mix_ln_alpha"),
    (["model=mix_ln", "model.mix_ln_alpha=abc"], "error: model.mix_ln_alpha=abc: could not be converted to Float"),
    (
        ["model=mix_ln", "+model.mix_ln_bta=1"],
        "model.mix_ln_bta: lnexp_mix_ln has no such option; did you mean mix_ln",
    ),
    (
        ["fairseq.common.fp16_init_scale=x"],
        "fairseq.common.fp16_init_scale=x: could not be converted",
    ),
    (["warmup_updates=0"], "warmup_updates=0: must be at least 1; 1 means no warm-up"),
    (["warmup_updates=-5"], "warmup_updates=-5: must be at least 1"),
    (["warmup_updates=1.5"], "warmup_updates=1.5: must be a whole number"),
    (["lr_max=fast"], "lr_max=fast: must be a number"),
    (["lr_max=nan"], "lr_max=nan: must be positive and finite"),
    (["lr_max=-1e-3"], "lr_max=-0.001: must be positive and finite"),
    (["init=zeros"], "init=zeros: must be one of paper, fairseq"),
    (["precision=fp16", "device=cpu"], "precision=fp16: needs a GPU, for its loss scale; take bf16 or fp32"),
    (["profile=paper"], "profile=paper needs a GPU and none is visible"),
    (["data=tokenized", "data.path=/nowhere/at/all"], "/nowhere/at/all: no such folder"),
    (["data=tokenized"], "data.path: not set; say data.path=…"),
    (["-m", "--cfg", "job"], "--cfg: shows one config; leave out -m"),
    (["+recipe=fig2a"], "a recipe is a sweep of many runs; add -m"),
    (["-m", "+recipe=fig2"], "recipe=fig2: no such recipe; did you mean fig2b"),
    (["-m", "+recipe=fig2a", "seed=1"], "recipe fig2a sets seed itself"),
    (["-m", "+recipe=fig2a", "lr_max=1"], "recipe fig2a sets lr_max itself; write a recipe that is a variant of fig2a"),
    (["-m", "+recipe=fig2a", "max_tokens=1,2"], "a recipe sweeps its own arms"),
    (["-m", "+recipe=fig2a", "n_seeds=0"], "n_seeds=0: must be at least 1"),
    (["runs_dir=/dev/null/x"], "Not a directory: /dev/null/x"),
    (["lr_max=1e-3="], "lr_max=1e-3="),
    (["first_seed=abc"], "first_seed=abc: must be a whole number"),
    (["model=deep_norm", "model.decoder_layers=0"], "model.decoder_layers=0: must be at least 1"),
    (["evaluation.valid_beam=0"], "evaluation.valid_beam=0: must be at least 1"),
    (["label_smoothing=x"], "label_smoothing=x: must be a number from 0"),
    (["-m", "+recipe=fig2a", "n_seeds=1", "profile=paper"], "profile=paper needs a GPU and none is visible"),
    (["-m", "+recipe=fig2a", "n_seeds=1", "data=tokenized", "data.path=/nowhere"], "/nowhere: no such folder"),
    (["-m", "+recipe=fig2a", "n_seeds=1", "data_dir=/dev/null/x"], "Not a directory: /dev/null/x"),
]


@pytest.mark.parametrize(("arguments", "message"), ONE_LINERS, ids=lambda value: str(value)[:40])
def test_one_clear_line(tmp_path, where, arguments, message):
    mine = {argument.partition("=")[0] for argument in arguments}
    tiny = [option for option in TINY if option.partition("=")[0] not in mine | {"warmup_updates"}]
    done = run_script("train", *arguments, *(option for option in where if option.partition("=")[0] not in mine), *tiny)
    assert done.returncode not in (0, 1)
    assert done.stdout == ""
    (line,) = done.stderr.splitlines()
    assert line.startswith("error: ")
    assert message in line
    assert list(tmp_path.glob("runs/*/*")) == [], "nothing is left"


@pytest.mark.parametrize(
    ("option", "words"),
    [
        (
            "model._name=lnexp_b2t_pre_ln",
            "fairseq.model._name=lnexp_b2t_pre_ln: there is none; did you mean lnexp_pre_ln",
        ),
        ("fairseq.criterion._name=entropy", "fairseq.criterion._name=entropy: there is none; "),
        ("fairseq.task._name=translations", "fairseq.task._name=translations: there is none; did you mean translation"),
        ("optimizer._name=adamw", "fairseq.optimizer._name=adamw: there is none; did you mean adam"),
        ("lr_schedule._name=cosines", "fairseq.lr_scheduler._name=cosines: there is none; did you mean cosine?"),
    ],
)
def test_unknown_parts_are_named(where, option, words):
    done = run_script("train", *TINY, *where, option)
    assert error_of(done).startswith(f"error: {words}")


def test_fairseq_names_its_unknown_options(tmp_path, where):
    done = run_script("train", *TINY, *where, "fairseq.common.fp61=true")
    assert error_of(done) == "error: fairseq.common.fp61: fairseq has no such option; did you mean fp16 or bf16?"
    done = run_script("train", *TINY, *where, "fairseq.comon.fp16=true")
    assert done.stderr.startswith("error: fairseq.comon: fairseq has no such group; did you mean common or ")
    done = run_script("train", *TINY, *where, "fairseq.common.log_interval=often")
    assert list(tmp_path.glob("runs/*/*")) == [], "nothing is left"
    assert done.stderr.startswith("error: fairseq.common.log_interval=often: must be a whole number")
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ("scale.toy.train_pairs=abc", "data.text.train_pairs=abc: must be a whole number"),
        ("model.encoder_attention_heads=5", "model: embed_dim must be divisible by num_heads"),
        ("++model.activation_fn=foo", "model: --activation-fn foo not supported"),
        ("max_tokens=6", "toy: sentence "),
        ("tracker=wandb", "tracker=online: "),
    ],
)
def test_settings_that_only_the_work_itself_can_refuse(tmp_path, where, option, message):
    key = option.partition("=")[0]
    tiny = [word for word in TINY if not key.startswith(word.partition("=")[0])]
    if "toy" in key:
        tiny += ["scale.toy.valid_pairs=20", "scale.toy.test_pairs=20"]
    done = run_script("train", *tiny, *where, option, env={"WANDB_API_KEY": ""})
    assert error_of(done).startswith(f"error: {message}")


def test_a_folder_that_fairseq_would_cut_in_two_is_refused(tmp_path):
    words = [*TINY, f"runs_dir={tmp_path / 'runs'}", f"data_dir='{tmp_path / 'a:b'}'"]
    done = run_script("train", *words)
    line = error_of(done)
    assert line.startswith("error: data_dir: ")
    assert "fairseq reads : as the end of a path" in line


def test_a_broken_run_folder_is_named_and_force_mends_it(finished, where):
    settings = [*TINY, *where, "max_epoch=1"]
    (finished / "status.json").write_text("{")
    done = run_script("train", *settings)
    assert done.returncode == 2
    assert "status.json: malformed" in done.stderr
    assert "force=true" in done.stderr
    assert run_script("train", *settings, "force=true").returncode == 0


def test_a_schedule_without_room_is_refused(tmp_path, where):
    done = run_script("train", *TINY, *where, "lr_schedule=linear", "warmup_updates=4000", "max_epoch=1")
    assert "total_updates=" in error_of(done)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("valid.de", b"eins\nzwei\n", "valid.de has 2 lines, "),
        ("train.en", b"", "train.en: empty"),
        ("test.en", b"one\ntwo\xe4\nthree\n", "test.en:2: not UTF-8"),
        ("train.de", b"eins\n\ndrei\n", "train.de:2: empty line"),
    ],
)
def test_a_faulty_corpus_is_named_by_file_and_line(tmp_path, name, content, message):
    folder = tmp_path / "corpus"
    folder.mkdir()
    for split in ("train", "valid", "test"):
        (folder / f"{split}.de").write_text("eins\nzwei\ndrei\n")
        (folder / f"{split}.en").write_text("one\ntwo\nthree\n")
    (folder / name).write_bytes(content)
    done = run_script(
        "train", *TINY, "data=tokenized", f"data.path={folder}",
        f"runs_dir={tmp_path / 'runs'}", f"data_dir={tmp_path / 'data'}",
    )  # fmt: skip
    assert message in error_of(done)
    assert list((tmp_path / "data").iterdir()) == [], "nothing half-prepared"


def test_a_full_disk_is_said_and_the_run_goes_on_when_there_is_room(tmp_path, where):
    settings = [*TINY, *where, "max_epoch=1"]
    run_script("prepare_data", *settings)
    done = run_script("train", *settings, largest_file=100_000)  # the first checkpoint does not fit
    line = error_of(done)
    assert "File too large" in line or "space" in line
    folder = only_run(tmp_path)
    assert line.endswith(f": {folder / 'checkpoints' / 'checkpoint1.pt'}")
    assert '"failed"' in (folder / "status.json").read_text()
    assert list((folder / "checkpoints").glob("checkpoint*.pt")) == [], "no half of a checkpoint"
    assert run_script("train", *settings).returncode == 0
    assert '"finished"' in (folder / "status.json").read_text()


@pytest.mark.parametrize(
    ("script", "argument"),
    [
        ("train", "--help"),
        ("train", "no_such_option=1"),
        ("verify", "--help"),
        ("show", "no_such_run"),
        ("status", "--runs=/no/such/place"),
    ],
)
def test_help_and_mistakes_load_nothing_heavy(script, argument):
    """What makes them quick; how quick they are is for ``make bench``."""
    import subprocess
    import sys

    from helpers import ROOT

    code = (
        "import atexit, runpy, sys\n"
        "atexit.register(lambda: print('heavy:', sorted({'torch', 'fairseq', 'wandb', 'pandas'} & set(sys.modules))))\n"
        f"runpy.run_path({str(ROOT / 'scripts' / f'{script}.py')!r}, run_name='__main__')"
    )
    done = subprocess.run([sys.executable, "-c", code, argument], capture_output=True, text=True, check=False)
    assert "heavy: []" in done.stdout
