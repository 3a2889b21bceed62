"""In which options configs of runs differ."""

from lnexp.results.tables.differing import differing


def test_an_option_that_only_some_have_counts_where_these_disagree():
    alike = {"seed": 1, "model": {"_name": "lnexp_a"}, "lr_max": 1.0}
    other = alike | {"model": {"_name": "lnexp_b", "b_power": 1}}
    assert differing([alike, other]) == [{"model._name": "lnexp_a"}, {"model._name": "lnexp_b"}]
    third = other | {"model": {"_name": "lnexp_b", "b_power": 2}}
    assert differing([alike, other, third])[2] == {"model._name": "lnexp_b", "model.b_power": 2}


def test_a_corpus_is_named_and_its_settings_are_not():
    one, two = ({"seed": 1, "data": {"name": name, "source_lang": name}} for name in ("de", "fr"))
    assert differing([one, two]) == [{"data.name": "de"}, {"data.name": "fr"}]


def test_settings_that_differ_within_a_corpus_are_named_beside_another_one():
    toy = {"seed": 1, "data": {"name": "toy", "source_lang": "de", "pairs": 3000}}
    fewer, other = toy | {"data": {**toy["data"], "pairs": 1000}}, toy | {"data": {"name": "multi30k"}}
    assert differing([toy, fewer, other]) == [
        {"data.name": "toy", "data.pairs": 3000},
        {"data.name": "toy", "data.pairs": 1000},
        {"data.name": "multi30k"},
    ]
