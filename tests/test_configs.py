"""Every file under configs/ and recipes/ composes, and the recipes ask for what their figures show."""

import inspect
import itertools
import re
from typing import get_args

import pytest
from omegaconf import OmegaConf

import lnexp.theory.measurements  # noqa: F401  (registers them)
from lnexp.configuration import check, compose, register_resolvers
from lnexp.paths import CONFIG_DIR
from lnexp.probing.recipes import settings_of
from lnexp.recipes.claim import Scope
from lnexp.recipes.command_line import with_corpus
from lnexp.recipes.jobs import THEORY, jobs_of
from lnexp.recipes.load import load_recipe, recipe_names
from lnexp.results.judging.questions import form_of
from lnexp.results.measures.sweep_measures import SWEEP_MEASURES
from lnexp.results.statistics.power import power_of_rate
from lnexp.runs.identity import identity
from lnexp.theory.measurement import MEASUREMENTS

#: A test of a success rate: its sign, and the number that the rate is compared with.
THRESHOLD = re.compile(r"success\(\w+\) ([<>]) ([0-9.]+)")
GROUPS = (
    "data",
    "intervention",
    "lr_schedule",
    "model",
    "norm",
    "optimizer",
    "pairs",
    "profile",
    "subword",
    "task",
    "tracker",
)
FILES = [f"{group}={path.stem}" for group in GROUPS for path in sorted((CONFIG_DIR / group).glob("[!_]*.yaml"))]
#: Corpora that lie in a folder of the user's.
OWN_TEXT = (
    "data=bert_plain", "data=bert_text", "data=plain", "data=tokenized", "data=wikipedia_books", "data=wmt14_mini",
)  # fmt: skip
#: Corpora of one language, which cannot be translated.
OF_ONE_LANGUAGE = ("data=bert_plain", "data=bert_text", "data=bert_toy", "data=wikipedia_books")
#: Labelled pairs that lie in a folder of the user's.
GLUE = ("data=wikipedia_books", "pairs=mrpc", "pairs=rte")
OWN_PAIRS = ("pairs=mrpc", "pairs=rte", "pairs=tatoeba")
#: Files of data=bert_text.
BERT_TEXT = (
    *(f"{name}.tar.xz" for name in ("iwslt14-tokenized-subset", "tatoeba-de-en", "wmt14-mini")),
    *(f"mirror/multi30k/data/task1/raw/{name}.en.gz" for name in ("train", "val", "test_2016_flickr")),
)
WMT14_MINI = ("europarl20k", "news-test2008", *(f"newstest20{year:02d}" for year in range(9, 15)))
PROFILES = ("small", "medium", "paper")
TRAINED = [name for name in recipe_names() if not load_recipe(name).measurement]
#: Of recipes with hundreds of arms, some that have every value of every axis: composing all takes minutes.
SOME_ARMS = {"map": ["*_none_x1", "keel_short_*", "post_ln_*_x2"]}
PROBED = [name for name in recipe_names() if load_recipe(name).measurement]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("text")
    for split, language in itertools.product(("train", "valid", "test"), ("de", "en")):
        (folder / f"{split}.{language}").write_text("a b\n")
    for name, language in itertools.product(WMT14_MINI, ("de", "en")):
        (folder / f"{name}.{language}").write_text("a b\n")
    of_glue = (f"{place}{split}.tsv" for place in ("", "MRPC/", "RTE/") for split in ("train", "dev"))
    for name in ("document.txt", "all.de", "all.en", *of_glue, *BERT_TEXT):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("a b\n")
    return folder


def test_every_group_is_covered():
    assert {path.name for path in CONFIG_DIR.iterdir() if path.is_dir()} == {*GROUPS, "hydra"}


@pytest.mark.slow
@pytest.mark.parametrize("file", FILES)
def test_every_config_file_composes_and_is_valid(file, folder):
    extra = [f"data.path={folder}"] if file in OWN_TEXT else []
    extra += ["task=masked_lm"] if file in OF_ONE_LANGUAGE else []
    extra += ["task=sentence_pairs"] if file.startswith("pairs=") else []
    extra += ["start.epoch=0"] if "task=sentence_pairs" in (file, *extra) else []
    extra += ["data=bert_text", f"data.path={folder}", f"data.pairs.path={folder}"] if file in OWN_PAIRS else []
    extra += [f"data.glue={folder}"] if file in GLUE else []
    extra += ["data=bert_toy"] if file in ("pairs=paraphrases", "task=sentence_pairs") else []
    cfg = compose([file, *extra])
    OmegaConf.to_container(cfg, resolve=True, throw_on_missing=True)
    check(cfg)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "profile"), [(name, at) for name in TRAINED for at in load_recipe(name).profiles])
def test_every_recipe_composes_at_every_profile(name, profile, folder):
    recipe = load_recipe(name)
    base = [f"profile={profile}"]
    own = [f"data.path={folder}"] if f"data={recipe.profiles[profile].data}" in OWN_TEXT else []
    own += [f"data.glue={folder}"] if profile == "paper" and recipe.task == "sentence_pairs" else []
    assert len(jobs_of(recipe, compose(base))) == len(recipe.planned_at(profile)) * len(recipe.arms)
    patterns = SOME_ARMS.get(name, ["*"])
    assert _axes(recipe.arms_like(patterns)) == _axes(recipe.arms.values())
    runs = set()
    for job in jobs_of(recipe, compose([*base, "n_seeds=1", f"arms={patterns}"])):
        cfg = compose([*with_corpus(recipe, profile, base), *own, *job.overrides])
        settings = check(cfg)
        assert (cfg.recipe, cfg.arm, cfg.seed, cfg.profile) == (name, job.arm.name, job.seed, profile)
        runs.add(identity(settings))
    assert len(runs) == len(recipe.arms_like(patterns)), "no two arms of a recipe are one run"


def _axes(arms):
    """Return all values of the axes of arms."""
    return {value for arm in arms for value in arm.values.items()}


@pytest.mark.parametrize(("profile", "seeds"), [("small", range(101, 111)), ("medium", range(21, 27))])
def test_a_profile_may_have_seeds_of_its_own(profile, seeds):
    jobs = jobs_of(load_recipe("fig2a"), compose([f"profile={profile}"]))
    assert {job.seed for job in jobs} == set(seeds)


@pytest.mark.parametrize("name", recipe_names())
def test_every_claim_can_be_read_and_names_arms_of_its_recipe(name):
    recipe = load_recipe(name)
    assert recipe.claims
    for claim in recipe.claims:
        calls = form_of(claim, recipe).calls.values()
        assert {arm for measure, arm in calls if measure not in SWEEP_MEASURES} <= set(recipe.arms), claim.id
        assert set(claim.paper) <= set(recipe.arms), claim.id
        assert claim.source
        assert claim.why
        assert claim.scope in get_args(Scope)


@pytest.mark.parametrize("name", TRAINED)
def test_a_success_rate_that_the_planned_seeds_cannot_decide_is_said_to_be_open(name):
    recipe = load_recipe(name)
    asked = [claim.holds_if for claim in recipe.claims if not claim.exploratory and claim.scope == "relative"]
    for rate, profile in itertools.product(filter(None, map(THRESHOLD.fullmatch, asked)), recipe.profiles):
        threshold = float(rate[2]) if rate[1] == ">" else 1 - float(rate[2])
        if not power_of_rate(len(recipe.planned_at(profile)), 1.0, threshold):
            assert "cannot decide a success rate" in " ".join(recipe.doubt_at(profile).split()), (rate[0], profile)


@pytest.mark.parametrize("name", TRAINED)
def test_every_recipe_says_how_it_reads_no_warmup(name):
    recipe = load_recipe(name)
    # there are no such pairs for a small model; in the other two nothing but the size is new
    paper_alone = {"fig5_finetune_rte", "paper_size", "paper_size_placement", "paper_size_warmup"}
    small_alone = {
        "adam_2k",
        "depth_by_rate",
        "interventions",
        "interventions_high_rate",
        "layers_held_back",
        "map",
        "map_qk_norm",
        "radam_parts",
        "stall",
        "warmup_by_rate",
    }
    # rates or lengths are chosen for a size
    medium_alone = {"adam_2k_real_text", "interventions_real_text", "tuned_rate"}
    alone = {"paper": paper_alone, "small": small_alone, "medium": medium_alone}
    expected = {at for at, names in alone.items() if name in names} or {"small", "paper"}
    assert expected <= set(recipe.profiles) <= set(PROFILES)
    of_rates = {"map", "depth_by_rate"}  # three seeds decide no success rate, and no claim asks it
    assert recipe.n_seeds >= (3 if name in of_rates else 5)
    assert name not in of_rates or not any("success(" in claim.holds_if for claim in recipe.claims)
    assert "warm-up" in recipe.reading or "T_warmup" in recipe.reading
    assert "coupled" in recipe.reading
    said = " ".join([*recipe.settings, *(override for arm in recipe.arms.values() for override in arm.overrides)])
    forms = {form for form in ("coupled", "decoupled") if f"lr_schedule.form={form}" in said}
    one_for_all = any(override.startswith("lr_schedule=") for override in recipe.settings)
    assert len(forms) == (0 if one_for_all and "lr_schedule=inverse_sqrt" not in said else 1), "never mixed"


@pytest.mark.parametrize("name", PROBED)
def test_every_recipe_that_probes_asks_what_its_probe_can_answer(name):
    recipe = load_recipe(name)
    assert set(recipe.profiles) == {THEORY}
    assert recipe.n_seeds >= (5 if recipe.is_of_trained_runs else 10)
    taken = set(inspect.signature(MEASUREMENTS[recipe.measurement]).parameters) - {"context"}
    for job in jobs_of(recipe, compose(["n_seeds=1"])):
        settings, only = settings_of(job)
        assert set(settings) == taken
        assert set(only) <= {"side", "parameter", "of", "back", "sublayer", "asked"}


def test_the_factorial_is_the_sweep_that_the_suite_is_named_for():
    arms = load_recipe("factorial").arms
    assert len(arms) == 2 * 3 * 3 * 2
    made = set()
    for job in jobs_of(load_recipe("factorial"), compose(["profile=paper", "n_seeds=1"])):
        cfg = compose(["profile=paper", *job.overrides])
        made.add((cfg.model._name, cfg.optimizer._name, cfg.warmup_updates, cfg.lr_max))
    adam = itertools.product(
        ("lnexp_post_ln", "lnexp_pre_ln"), ("lnexp_adam", "lnexp_radam"), (1, 500, 4000), (5e-4, 1e-3)
    )
    sgd = itertools.product(("lnexp_post_ln", "lnexp_pre_ln"), ("lnexp_sgd",), (1, 500, 4000), (1e-3, 5e-3))
    assert made == {*adam, *sgd}


def test_claim_ids_are_unique():
    ids = [claim.id for name in recipe_names() for claim in load_recipe(name).claims]
    assert len(ids) == len(set(ids))


@pytest.mark.slow
def test_recipes_share_runs_where_their_figures_do():
    register_resolvers()

    def by_arm(name: str) -> dict[str, str]:
        jobs = [job for job in jobs_of(load_recipe(name), compose([])) if job.seed == 101]
        return {job.arm.name: identity(compose(job.overrides)) for job in jobs}

    fig2a, fig4ab = by_arm("fig2a"), by_arm("fig4ab")
    assert fig2a["warmup_low"] == fig4ab["post_ln_adam_warmup"]
    assert fig2a["no_warmup_low"] == fig4ab["post_ln_adam"]


def test_the_paper_profile_is_the_papers_iwslt14_model():
    cfg = compose(["profile=paper"])
    model = cfg.model
    assert (model.encoder_layers, model.decoder_layers) == (6, 6)
    assert {model.encoder_embed_dim, model.decoder_embed_dim} == {512}
    assert {model.encoder_ffn_embed_dim, model.decoder_ffn_embed_dim} == {1024}
    assert {model.encoder_attention_heads, model.decoder_attention_heads} == {4}
    assert (cfg.max_tokens, cfg.label_smoothing, cfg.evaluation.test_beam) == (4096, 0.1, 5)
    assert dict(cfg.scale.lr_max) == {"low": 5e-4, "high": 1e-3}
    assert dict(cfg.scale.warmup_updates) == {"none": 1, "short": 500, "full": 4000}


def test_the_paper_profile_has_the_papers_subwords_and_ties():
    register_resolvers()

    def config(name: str):
        recipe, said = load_recipe(name), ["profile=paper"]
        job = jobs_of(recipe, compose(said))[0]
        return compose([*with_corpus(recipe, "paper", said), *job.overrides])

    iwslt14, wmt14 = config("fig2a"), config("fig4cd")
    assert (iwslt14.data.subword._target_.rpartition(".")[2], iwslt14.data.subword.size) == ("SubwordNmt", 10_000)
    assert not iwslt14.model.share_all_embeddings
    assert (wmt14.data.subword.size, wmt14.data.joined_dictionary, wmt14.model.share_all_embeddings) == (
        37_000,
        True,
        True,
    )
