"""A row of snapshots.csv has what the modules of a layer have together."""

from types import SimpleNamespace

import pytest

from lnexp.results.tables.snapshots_table import snapshots_table


def run(*snapshots: dict, losses: tuple[float, ...] = (5.0, 4.0)) -> SimpleNamespace:
    updates = [{"update": len(losses), "train_loss": list(losses), "grad_norm": list(losses)}] if losses else []
    job = SimpleNamespace(recipe=SimpleNamespace(name="failure"), arm=SimpleNamespace(name="none"), seed=7)
    of_records = {"snapshots": list(snapshots), "updates": updates}
    return SimpleNamespace(job=job, identity="abcdef01", stated_layers=[], **of_records)


SNAPSHOT = {
    "update": 2,
    "hidden_state.encoder": [1.0, 2.0],
    "hidden_state.decoder": [3.0],
    "attention_logit.decoder.self_attn": [4.0],
    "attention_logit.decoder.encoder_attn": [6.0],
    "gradient_norm.encoder.fc1": [3.0, None],
    "gradient_norm.encoder.fc2": [4.0, 1.23456],
    "gradient_norm.decoder.fc1": [2.0],
    "gradient_norm.decoder.embed_tokens": [100.0],
    "update_rms.encoder.fc1": [0.5, 0.1],
    "update_rms.encoder.fc2": [0.1, None],
}


def test_modules_are_taken_together_layer_by_layer():
    table = snapshots_table([run(SNAPSHOT)])
    assert [(row.side, row.layer) for row in table.itertuples()] == [
        ("model", 0), ("encoder", 1), ("encoder", 2), ("decoder", 1),
    ]  # fmt: skip
    assert table[["arm", "seed", "update"]].drop_duplicates().values.tolist() == [["none", 7, 2]]
    model, first, second, decoder = table.to_dict("records")
    assert model["train_loss"] == 4.0, "that of the update itself"
    assert (first["gradient_norm"], first["update_rms"], first["hidden_state"]) == (5.0, pytest.approx(0.3), 1.0)
    assert (second["gradient_norm"], second["update_rms"]) == (1.235, 0.1)
    assert (decoder["gradient_norm"], decoder["attention_logit"]) == (2.0, 6.0), "embeddings are of no layer"


def test_changes_of_states_are_there_where_they_were_measured():
    changed = {**SNAPSHOT, "state_change.encoder": [0.1, 0.2], "state_change.decoder": [0.3]}
    assert "state_change" not in snapshots_table([run(SNAPSHOT)])
    assert snapshots_table([run(changed)])["state_change"].tolist()[1:] == [0.1, 0.2, 0.3]


def test_runs_without_layers_or_without_losses_have_fewer_rows():
    old = {"update": 2, "attention_logit.encoder.self_attn": [4.0, 2.0]}
    assert snapshots_table([run(old), run()]).empty
    assert set(snapshots_table([run(SNAPSHOT, losses=())])["side"]) == {"encoder", "decoder"}
