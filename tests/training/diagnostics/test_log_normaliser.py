"""log Z is that of the words that are to be predicted."""

import torch

from lnexp.training.diagnostics.log_normaliser import LogNormaliser


def test_padding_does_not_count(one_update):
    with torch.no_grad():
        logits = one_update.model(**one_update.batch["net_input"])[0]
    z = [logits[row, place].exp().sum().log() for row, length in enumerate((5, 3)) for place in range(length)]
    found = one_update.watched_by(LogNormaliser)
    torch.testing.assert_close(found["log_z.output"], torch.stack(z).mean(0, keepdim=True).double())
    torch.testing.assert_close(found["log_z_squared.output"], torch.stack(z).square().mean(0, keepdim=True).double())
    assert not one_update.model._forward_hooks
    assert not one_update.criterion._forward_pre_hooks


def test_batches_of_one_update_count_by_their_tokens(one_update):
    watching = LogNormaliser(one_update.watched)
    watching.begin()
    short = {
        "net_input": {key: value[1:] for key, value in one_update.batch["net_input"].items()},
        "target": one_update.batch["target"][1:],
        "ntokens": 3,
    }
    for batch in (one_update.batch, short):
        one_update.criterion(one_update.model, batch)
    together = watching.end()["log_z.output"]
    whole = one_update.watched_by(LogNormaliser, lr=0)["log_z.output"]
    one_update.batch = short
    alone = one_update.watched_by(LogNormaliser, lr=0)["log_z.output"]
    torch.testing.assert_close(together, (8 * whole + 3 * alone) / 11)
