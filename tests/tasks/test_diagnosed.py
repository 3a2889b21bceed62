"""What runs are measured by that recorded their updates and snapshots, and what published tables say of them."""

from types import SimpleNamespace

import numpy as np
import pytest

from lnexp.tasks.diagnosed import (
    DIAGNOSED,
    early_decoder_change,
    early_encoder_change,
    first_encoder_change,
    first_sharpness,
    last_angular_update,
    last_log_z,
    last_sharpness,
    max_angular_update,
    max_attention_logit,
    max_hidden_cosine,
    max_relative_update,
    max_sharpness,
    max_update_rms,
    middle_sharpness,
    min_attention_entropy,
    min_encoder_gradient_share,
    min_update_rms,
    series_of,
    spike_score,
    spike_score_grad_norm,
    spike_score_loss,
)


def updates(last: int, loss: list[float | None], norm: list[float | None] | None = None) -> dict:
    return {"kind": "updates", "epoch": 1, "update": last, "train_loss": loss, "grad_norm": norm or loss}


def run(*records: dict, end: dict | None = None) -> SimpleNamespace:
    by_kind = {kind: [record for record in records if record["kind"] == kind] for kind in ("updates", "snapshot")}
    return SimpleNamespace(updates=by_kind["updates"], snapshots=by_kind["snapshot"], end=end or {})


def noise(count: int) -> list[float]:
    return (5 + np.random.default_rng(1).normal(size=count)).tolist()


@pytest.mark.parametrize("place", [60, 100, 159])
@pytest.mark.parametrize("size", [9.0, -9.0])
def test_a_value_far_from_those_before_it_is_a_spike(place, size):
    values = noise(160)
    assert spike_score(values) == 0
    values[place] = 5 + size
    assert spike_score(values) == 1, "one of the hundred that have sixty before them"
    assert spike_score(values, window=160) is None
    assert spike_score(values, deviations=20) == 0


def test_it_is_that_of_a_count_by_hand():
    values = np.random.default_rng(2).standard_t(1.5, size=400).tolist()
    spikes = 0
    for place in range(30, 400):
        before = np.array(values[place - 30 : place])
        spikes += abs(values[place] - before.mean()) >= 5 * before.std(ddof=1)
    assert spikes > 3
    assert spike_score(values, window=30, deviations=5) == pytest.approx(100 * spikes / 370)


def test_what_is_not_finite_is_a_spike_and_what_is_equal_is_none():
    assert spike_score([*noise(60), None]) == 100
    assert spike_score([0.1] * 100) == 0
    assert spike_score([0.0] * 100) == 0
    assert spike_score([0.1] * 99 + [0.2]) == pytest.approx(2.5)
    assert spike_score([0.1, 0.1 + 1e-6] * 50) == 0, "less than records are rounded by"
    assert spike_score(noise(60)) is None


def test_a_run_is_judged_by_all_of_its_updates_or_not_at_all():
    losses = [*noise(70), 50.0]
    whole = run(updates(40, losses[:40], [1.0] * 40), updates(71, losses[40:], [1.0] * 31))
    assert series_of(whole, "train_loss") == losses
    assert spike_score_loss(whole) == pytest.approx(100 / 11)
    assert spike_score_grad_norm(whole) == 0
    for broken in ([updates(71, losses[40:])], [updates(40, losses[:40]), updates(72, losses[40:])], []):
        assert spike_score_loss(run(*broken)) is None


def test_snapshots_give_their_extremes_their_means_and_the_last():
    first = {"kind": "snapshot", "epoch": 1, "update": 1, "attention_logit.encoder.self_attn": [1.0, 7.0]}
    first |= {"attention_logit.decoder.self_attn": [3.0], "relative_update.a": [0.1, None], "relative_update.b": [0.3]}
    first |= {"update_rms.a": [0.9, 0.7], "update_rms.b": [1.1]}
    first |= {"angular_update.a": [0.5], "log_z.output": [4.0], "log_z_squared.output": [17.0]}
    last = {"kind": "snapshot", "epoch": 1, "update": 8, "attention_logit.encoder.self_attn": [2.0, None]}
    last |= {"update_rms.a": [0.1, None], "update_rms.b": [0.3]}
    last |= {"relative_update.a": [0.05, 0.05], "angular_update.a": [0.25, 0.15], "log_z.output": [5.0]}
    taken = run(first, last)
    assert max_attention_logit(taken) == 7.0
    assert last_log_z(taken) == 5.0
    assert max_relative_update(taken) == pytest.approx(0.2)
    assert max_update_rms(taken) == pytest.approx(0.9)
    assert min_update_rms(taken) == pytest.approx(0.2)
    assert max_angular_update(taken) == 0.5
    assert last_angular_update(taken) == pytest.approx(0.2)


def test_what_fails_with_post_ln_is_measured_at_its_worst_snapshot():
    first = {"kind": "snapshot", "epoch": 1, "update": 1, "attention_entropy.encoder.self_attn": [2.0, 1.0]}
    first |= {"hidden_cosine.encoder": [0.2, 0.4], "gradient_norm.encoder.fc1": [3.0, None]}
    first |= {"gradient_norm.decoder.fc1": [4.0], "gradient_norm.encoder.embed_tokens": [100.0]}
    first |= {"gradient_norm.decoder.output_projection": [100.0]}
    last = {"kind": "snapshot", "epoch": 1, "update": 8, "attention_entropy.encoder.self_attn": [0.5, 0.1]}
    last |= {"hidden_cosine.encoder": [0.9, 0.8], "gradient_norm.encoder.fc1": [1.0, 1.0]}
    last |= {"gradient_norm.decoder.fc1": [7.0], "gradient_norm.decoder.fc2": [7.0]}
    taken = run(first, last)
    assert min_attention_entropy(taken) == pytest.approx(0.3)
    assert max_hidden_cosine(taken) == pytest.approx(0.85)
    assert min_encoder_gradient_share(taken) == pytest.approx(2 / 100)
    encoder_alone = {key: value for key, value in last.items() if "decoder" not in key}
    assert min_encoder_gradient_share(run(encoder_alone)) is None


def changed(update: int, *encoder: float | None) -> dict:
    return {"kind": "snapshot", "update": update, "state_change.encoder": list(encoder)}


def test_changes_of_states_are_of_the_last_layer_and_of_early_updates():
    one = run(changed(1, 9.0, 0.1), changed(32, 9.0, 0.4), changed(38, 9.0, 5.0))
    assert first_encoder_change(one) == 0.1
    assert early_encoder_change(one) == pytest.approx(0.2)
    assert early_decoder_change(one) is None
    assert early_encoder_change(run(changed(1, 0.0), changed(32, 1.0))) == 0
    assert early_encoder_change(run(changed(1, 1.0), changed(32, None))) is None
    assert early_encoder_change(run(changed(1, 1.0), changed(2, 1.0))) is None, "as of one that diverged"
    assert first_encoder_change(run(changed(1, 5.0), changed(2, None))) == 5


def curved(update: int, sharpness: float | None) -> dict:
    return {"kind": "snapshot", "update": update, "sharpness.loss": [sharpness]}


def test_the_sharpness_of_the_middle_is_a_geometric_mean():
    one = run(curved(1, 9.0), curved(19, 70.0), curved(20, 2.0), curved(200, 8.0), curved(201, 5.0))
    found = [of(one) for of in (first_sharpness, max_sharpness, last_sharpness, middle_sharpness)]
    assert found == pytest.approx([9, 70, 5, 4])
    last = curved(201, 1.0)
    assert middle_sharpness(run(curved(19, 1.0), last)) is None
    assert middle_sharpness(run(curved(20, 1.0), curved(23, None), last)) is None, "not of some of the updates"
    assert middle_sharpness(run(curved(20, 1.0), curved(23, -1.0), last)) is None
    assert middle_sharpness(run(curved(20, 1.0), curved(200, 1.0))) is None, "as of one that diverged"


@pytest.mark.parametrize("name", DIAGNOSED)
def test_a_published_run_has_what_its_table_states(name):
    assert DIAGNOSED[name](run(end={name: 0.5})) == 0.5
    assert DIAGNOSED[name](run()) is None
