"""What is read often is parsed once, and means what it meant."""

from omegaconf import OmegaConf, base

from lnexp.configuration import register_resolvers


def test_an_interpolation_is_parsed_once_and_follows_its_value():
    register_resolvers()
    register_resolvers()
    cfg = OmegaConf.create({"rate": 1, "parsed": {"once": "${rate} of ${..rate}"}})
    before = base.parse.cache_info().misses
    assert [cfg.parsed.once for _ in range(3)] == ["1 of 1"] * 3
    cfg.rate = 2
    assert cfg.parsed.once == "2 of 2"
    assert base.parse.cache_info().misses == before + 1
