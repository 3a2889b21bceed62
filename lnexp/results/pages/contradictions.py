"""Say in plain sentences what did not reproduce, and on which corpora."""

from collections.abc import Iterable

from lnexp.corpora.names import corpus_name
from lnexp.results.judging.verdicts import RecipeVerdicts

#: What a reader learns where claims are contradicted, by the ids of these claims.
SENTENCES = {
    "With RAdam (β2 = 0.98) and no warm-up Post-LN does not train well": (
        "fig4ab-radam-trains-post-ln",
        "fig4ab-radam-post-ln-succeeds",
    ),
    "With RAdam (β2 = 0.999) and no warm-up Post-LN does not train well, and Pre-LN is far from Pre-LN with Adam": (
        "radam-999-trains-post-ln",
        "radam-999-post-ln-succeeds",
        "radam-999-changes-pre-ln-little",
        "radam-beta2-matters-for-post-ln",
    ),
    "In fairseq's schedule, where no warm-up means far smaller rates, Pre-LN stays far behind without warm-up": (
        "coupled-pre-ln-trains-low",
        "coupled-pre-ln-trains-high",
        "coupled-pre-ln-needs-no-warmup",
        "coupled-warmup-is-worth-more-to-post-ln",
    ),
    "In BERT's pre-training Pre-LN at three times the rate is not 1.4 times as fast as Post-LN": (
        "fig5-pre-ln-is-faster",
    ),
    "At width 32 and 472 updates 6-6 Post-LN ends worse with warm-up, and 18-18 ResiDual fails with it": (
        "depth-post-ln-needs-warmup-6",
        "depth-post-ln-needs-warmup-6-nll",
        "depth-residual-18-trains",
    ),
    "ResiDual without warm-up stays behind Pre-LN at the higher rate": ("residual-trains-without-warmup-high",),
    "Warm-up of Post-LN's last layers is not a fifth better than of its first; larger betas, gathered moments"
    " and growing branches do not replace warm-up": (
        "interventions-last-layers-not-first",
        "interventions-long-memory",
        "interventions-variance-of-second-moment",
        "interventions-branch-warmup",
        "stall-equal-betas-save",
    ),
    "Without warm-up Post-LN's attention logits outgrow Pre-LN's, its hidden states still separate word classes, and"
    " its loss ends sharper": (
        "failure-is-no-growth-of-logits",
        "linear-probes-failed-loses-class",
        "sharpness-post-ln-fails-flat",
    ),
    "Before training Post-LN's gradients grow by more or less than √(3/2) per layer (appendix F)": (
        "growth-post-appendix-f",
        "fig3-layers-post-ratio",
    ),
    "Post-LN's encoder gradients of W¹ grow, against our count": ("fig3-layers-post-mean-field-encoder",),
    "In the encoder Post-LN's gradients of W² grow by less than a tenth per layer, and Pre-LN's are not flat": (
        "fig3-layers-post-grows-encoder-w2",
        "fig3-layers-pre-flat-encoder-w2",
    ),
    "Pre-LN's greatest gradient does not fall as 1/√L": ("fig3-pre-root-greatest",),
    "With tied embeddings the gradient of Pre-LN's last layer does not fall as 1/√L": ("fig3-pre-root",),
    "The share of a Pre-LN sublayer falls slower with depth than 1/i (Liu et al. 2020)": ("dependency-pre-falls",),
    "Lemma 3 does not hold as stated where the input's mean is far from zero": ("lemma3-as-stated",),
}


def not_reproduced(found: Iterable[RecipeVerdicts]) -> dict[str, list[str]]:
    """Return what is contradicted, as far as tallies count it: corpora by sentence, or by claim without a sentence."""
    said = {claim: sentence for sentence, claims in SENTENCES.items() for claim in claims}
    where: dict[str, list[str]] = {sentence: [] for sentence in SENTENCES}
    for one in found:
        corpus = corpus_name(one.data)
        for claim in one.content.claims:
            if claim.verdict == "contradicted" and claim.counts:
                corpora = where.setdefault(said.get(claim.id, f"`{claim.id}`"), [])
                corpora += [] if corpus in corpora else [corpus]
    return {sentence: corpora for sentence, corpora in where.items() if corpora}
