"""Say in plain sentences what did not reproduce, and on which corpora."""

from collections.abc import Iterable
from dataclasses import dataclass

from lnexp.results.judging.verdict_file import JudgedClaim
from lnexp.results.judging.verdicts import RecipeVerdicts
from lnexp.results.pages.corpora import names_of_corpora

#: What a reader learns where claims are contradicted, and the ids of these claims: of each thing that a sentence says,
#: those that show it. No sentence states a size, which another corpus or profile may not have.
SENTENCES: dict[str, tuple[tuple[str, ...], ...]] = {
    "With RAdam (β2 = 0.98; for 0.999 see `radam`) and no warm-up Post-LN does not train well": (
        ("fig4ab-radam-trains-post-ln", "fig4ab-radam-post-ln-succeeds"),
    ),
    "With RAdam (β2 = 0.98), linear decay and no warm-up Post-LN ends over 0.04 nats behind Adam with warm-up": (
        ("fig4ab-radam-trains-post-ln-nll", "fig4ab-radam-trains-post-ln-nll-coupled"),
    ),
    "With RAdam (β2 = 0.999) and no warm-up Post-LN does not train well, and Pre-LN is far from Pre-LN with Adam": (
        ("radam-999-trains-post-ln", "radam-999-post-ln-succeeds", "radam-beta2-matters-for-post-ln"),
        ("radam-999-changes-pre-ln-little",),
    ),
    "Without warm-up the change from Post-LN to Pre-LN gains less than twice what the change from Adam to RAdam gains"
    " (twice is our reading of section 4.2)": (("factorial-placement-dominates-optimizer",),),
    "In fairseq's schedule, where no warm-up means far smaller rates, Pre-LN, too, stays far behind without warm-up": (
        (
            "coupled-pre-ln-trains-low",
            "coupled-pre-ln-trains-high",
            "coupled-pre-ln-needs-no-warmup",
            "coupled-warmup-is-worth-more-to-post-ln",
        ),
    ),
    "In fairseq's schedule, without warm-up, Post-LN's BLEU is more than half of Pre-LN's at the lower rate": (
        ("coupled-placement-decides-low",),
    ),
    "In BERT's pre-training Pre-LN at three times the rate is not 1.4 times as fast as Post-LN": (
        ("fig5-pre-ln-is-faster",),
    ),
    "With narrow models and few updates, most of them warm-up, 18-18 ResiDual fails even with it": (
        ("depth-residual-18-trains",),
    ),
    "With narrow models and few updates 12-12 Post-LN with warm-up trains at none of its rates": (
        ("depth-by-rate-post-ln-12-trains",),
    ),
    "At its own best rate Pre-LN ends worse without warm-up": (("tuned-pre-ln-needs-no-warmup",),),
    "Each with warm-up and at its own best rate, Post-LN ends worse than Pre-LN, not better (Liu et al. 2020, Admin)": (
        ("tuned-post-ln-ends-better",),
    ),
    "Sub-LN with warm-up ends more than 0.04 nats behind Pre-LN": (("sub-ln-trains-as-pre-ln-does-nll",),),
    "ResiDual without warm-up stays behind Pre-LN at the higher rate": (("residual-trains-without-warmup-high",),),
    "Equal betas of Adam (0.98), and residual branches that grow from zero, do not replace warm-up": (
        ("stall-equal-betas-save",),
        ("interventions-branch-warmup",),
    ),
    "With a second moment gathered over an epoch (Adam-2k, which has 2,000 batches) Post-LN without warm-up ends with"
    " more than 1.25 times the nll that it has with warm-up": (("adam-2k-ends-as-with-warmup",),),
    "At twice the rate none of these lets Post-LN train without warm-up: decoder rates that fall from layer to"
    " layer (the first ones above lr_max), warm-up of the last layers alone, normalised gradients, β2 = 0.9 or"
    " 0.999, both of Adam's moments gathered before the first step, clipped changes, and residual branches that"
    " grow from zero": (
        ("interventions-gradients-by-layer-high-rate",),
        ("interventions-last-layers-warmup-high-rate",),
        ("interventions-size-of-gradients-high-rate",),
        ("interventions-short-memory-high-rate",),
        ("interventions-long-memory-high-rate",),
        ("interventions-variance-of-second-moment-high-rate",),
        ("interventions-size-of-changes-high-rate",),
        ("interventions-branch-warmup-high-rate",),
    ),
    "At twice the rate warm-up of all layers but the last of each stack is enough, and warm-up of all but the first is"
    " no better": (("held-back-last-five-not-first",), ("held-back-all-but-last-fail",)),
    "At twice the rate Adam's second moment that is gathered before the first step does not replace warm-up": (
        ("held-back-second-moment-saves",),
    ),
    "At twice the rate RAdam's rectification does not do better than a constant rate that is as large on average": (
        ("radam-parts-not-a-smaller-rate",),
    ),
    "On real text these do not replace warm-up: decoder rates that fall from layer to layer (the first ones above"
    " lr_max), both of Adam's moments gathered before the first step, and clipped changes": (
        ("real-text-gradients-by-layer",),
        ("real-text-variance-of-second-moment",),
        ("real-text-size-of-changes",),
    ),
    "Without warm-up the first 32 updates, which become smaller in Post-LN than in Pre-LN, change its hidden"
    " states less, not more (Liu et al. 2020, Admin)": (
        ("first-updates-post-changes-more-than-pre",),
        ("first-updates-post-changes-more-than-pre-decoder",),
    ),
    "Without warm-up Post-LN's greatest attention logits exceed Pre-LN's; they do so late in training": (
        ("failure-is-no-growth-of-logits",),
    ),
    "Without warm-up Post-LN's loss does not end less than half as sharp as with it": (
        ("sharpness-post-ln-fails-flat",),
    ),
    "From hidden states of Post-LN without warm-up a linear classifier reads positions and word classes more than half"
    " as well as with it": (("linear-probes-failed-loses-position",), ("linear-probes-failed-loses-class",)),
    "Without warm-up hidden states of DeepNorm become no less alike than those of Post-LN": (
        ("failure-deep-norm-states-stay-apart",),
    ),
    "With Gaussian inputs Post-LN's gradients grow far less per layer than √(3/2), the rate that we read from"
    " appendix F": (("growth-post-appendix-f",),),
    "Before training Post-LN's gradients grow in the decoder by more per layer than √(3/2), the rate that we read from"
    " appendix F": (("fig3-layers-post-ratio",),),
    "Before training Post-LN's encoder gradients of W¹ grow by more than a tenth per layer; by our count they are"
    " the same in all layers": (("fig3-layers-post-mean-field-encoder",),),
    "Before training Post-LN's gradients of W² grow in the encoder by less than a tenth per layer, and Pre-LN's are not"
    " flat": (
        ("fig3-layers-post-grows-encoder-w2",),
        ("fig3-layers-pre-flat-encoder-w2",),
    ),
    "Before training, with untied embeddings, Pre-LN's greatest gradient does not fall as 1/√L": (
        ("fig3-pre-root-greatest",),
    ),
    "Before training, with tied embeddings, the gradient of Pre-LN's last layer falls faster than 1/√L, which the bound"
    " of Theorem 1 allows": (("fig3-pre-root",),),
    "Before training, over 36 sublayers, a Pre-LN sublayer's share does not fall as 1/i (Liu et al. 2020, Admin)": (
        ("dependency-pre-falls",),
    ),
    "Before training Peri-LN's encoder of 12 sublayers of width 64 amplifies small changes more than Post-LN's": (
        ("amplification-in-training-peri-ln-starts-below-post",),
    ),
    "The constant of Lemma 3 for inputs without a mean does not hold where the mean is far from zero": (
        ("lemma3-as-stated",),
    ),
}


@dataclass(frozen=True)
class Finding:
    """What a corpus shows of a sentence.

    Attributes:
        corpus: its name.
        places: the results that show it, ``<profile>/<data>/<recipe>``.
        claims: the contradicted ones, by the thing that the sentence says.
    """

    corpus: str
    places: tuple[str, ...]
    claims: tuple[tuple[JudgedClaim, ...], ...]


def findings(found: Iterable[RecipeVerdicts]) -> dict[str, list[Finding]]:
    """Return what is contradicted, as far as tallies count it, by sentence, or by claim.

    A claim stands by its name where no sentence has it, and where another thing that the sentence says is not shown.
    """
    of_sentence: dict[str, list[Finding]] = {sentence: [] for sentence in SENTENCES}
    for corpus, claims in _contradicted(found).items():
        shown = {said: things for said, things in SENTENCES.items() if all(map(claims.keys().__and__, things))}
        in_sentences = {claim for things in shown.values() for thing in things for claim in thing}
        alone = {f"`{claim}`": ((claim,),) for claim in sorted(claims.keys() - in_sentences)}
        for said, things in (shown | alone).items():
            pairs = [[claims[claim] for claim in thing if claim in claims] for thing in things]
            places = tuple(dict.fromkeys(place for thing in pairs for place, _ in thing))
            of_each = tuple(tuple(claim for _, claim in thing) for thing in pairs)
            of_sentence.setdefault(said, []).append(Finding(corpus, places, of_each))
    return {said: corpora for said, corpora in of_sentence.items() if corpora}


def not_reproduced(found: Iterable[RecipeVerdicts]) -> dict[str, list[str]]:
    """Return the names of the corpora by what :func:`findings` says of them."""
    return {said: [one.corpus for one in of_sentence] for said, of_sentence in findings(found).items()}


def _contradicted(found: Iterable[RecipeVerdicts]) -> dict[str, dict[str, tuple[str, JudgedClaim]]]:
    """Return the claims that are contradicted and count, each with the place of its results, by corpus and by id."""
    found = list(found)
    names = names_of_corpora((one.profile, one.data) for one in found)
    claims: dict[str, dict[str, tuple[str, JudgedClaim]]] = {}
    for one in found:
        of_corpus = claims.setdefault(names[one.profile, one.data], {})
        for claim in one.content.claims:
            if claim.verdict == "contradicted" and claim.counts:
                of_corpus[claim.id] = (one.place, claim)
    return claims
