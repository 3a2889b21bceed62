"""Sentences a second of an array's beam search against fairseq's own, at equal BLEU."""

import statistics
import tempfile
import time
from pathlib import Path

from omegaconf import OmegaConf

from lnexp.configuration import check, compose
from lnexp.corpora.prepare import prepare
from lnexp.runs.folder import RunFolder

MEMBERS = 4
ROUNDS = 3
EPOCHS = 3


def table(overrides: list[str]) -> str:
    """Train an array for a few epochs, translate test with it and with fairseq's search, in alternation."""
    from lnexp.training import bleu
    from lnexp.training.arrays.checkpoints import member_model
    from lnexp.training.arrays.engine import ArrayEngine
    from lnexp.training.arrays.translate import translate_array
    from lnexp.training.engine import Engine
    from lnexp.training.translate import FirstSentences, translate

    common = ["model=pre_ln", "tracker=none", "lr_schedule=constant", "warmup_updates=1", f"max_epoch={EPOCHS}"]
    cfgs = [compose([*common, *overrides, f"seed={seed}", "order_seed=1"]) for seed in range(1, MEMBERS + 1)]
    for cfg in cfgs:
        check(cfg)
        OmegaConf.resolve(cfg)
    cfg = cfgs[0]
    corpus = prepare(cfg.data, cfg.data_dir)
    with tempfile.TemporaryDirectory() as root:
        folders = [RunFolder(Path(root) / f"bench-{number:08}") for number in range(MEMBERS)]
        for folder in folders:
            folder.checkpoints.mkdir(parents=True)
        array = ArrayEngine(cfgs, folders, corpus)
        array.train(0, lambda member, record: folders[member].append(record))
        single = Engine(cfg, folders[0], corpus, show_progress=False)
        single.model.load_state_dict(member_model(array.model, 0))
        single.model.to(array.trainer.device)
        sentences = FirstSentences(array.task.dataset("test"), 0)
        settings, beam, post_process = cfg.evaluation, cfg.evaluation.test_beam, cfg.data.post_process
        rounds = []
        for _ in range(ROUNDS):
            start = time.perf_counter()
            ours = translate_array(array.task, array.model, sentences, settings, beam, post_process, range(MEMBERS))[0]
            middle = time.perf_counter()
            stock = translate(single.task, single.model, sentences, settings, beam, post_process)
            rounds.append((MEMBERS / (middle - start), 1 / (time.perf_counter() - middle)))
    references = corpus.lines("test", cfg.data.target_lang)
    scores = [bleu.tokenised_bleu(hypotheses, references).bleu for hypotheses in (ours, stock)]
    mine, theirs = (len(sentences) * statistics.median(side) for side in zip(*rounds, strict=True))
    ratio = statistics.median(one / other for one, other in rounds)
    return "\n".join(
        [
            "| members | sentences | beam | lnexp, sentences/s | fairseq | ratio | BLEU | fairseq's BLEU |",
            "|---|---|---|---|---|---|---|---|",
            f"| {MEMBERS} | {len(sentences):,} | {beam} | {mine:.1f} | {theirs:.1f} | {ratio:.2f}"
            f" | {scores[0]:.2f} | {scores[1]:.2f} |",
        ]
    )
