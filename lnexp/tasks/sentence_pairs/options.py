"""The options of classifying pairs of sentences: which pairs, and which checkpoint a run starts from."""

from lnexp.checks import TEXT, checked_elsewhere, whole
from lnexp.options import Option
from lnexp.options.common import OPEN, SEED
from lnexp.tasks.masked_lm.options import LANGUAGES

OPTIONS = (
    Option(
        "pairs", checked_elsewhere("a file of the group"), "the labelled pairs; data.pairs has their options",
        decides=False, keeps_arms=False,  # what the file says decides
    ),
    *LANGUAGES,
    Option("data.pairs", OPEN, "what the file of pairs has, such as data.pairs.path", is_group=True),
    Option("data.pairs.name", TEXT, "what the folder of prepared pairs is called by", decides=False, keeps_arms=False),
    Option(
        "start.recipe", TEXT.or_null(), "the recipe of the run that a run starts from; null: start.run names it",
        decides=False, per_member=True,
    ),
    Option("start.arm", TEXT.or_null(), "the arm of that recipe", decides=False, per_member=True),
    Option("start.seed", SEED, "the seed of that run", decides=False, per_member=True, keeps_arms=False),
    Option(
        "start.run", TEXT.or_null(), "the identity of that run, which follows from recipe, arm and seed",
        per_member=True,
    ),
    Option(
        "start.epoch", whole(0), "the epoch of its checkpoint; 0: the run starts from scratch", published=True,
        per_member=True,
    ),
)  # fmt: skip
