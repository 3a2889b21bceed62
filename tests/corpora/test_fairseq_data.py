"""Damaged indexes are detected."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lnexp.corpora.fairseq_data import IndexedDatasetWriter, check_index


@pytest.fixture(scope="module", params=[np.uint16, np.uint32])
def prefix(tmp_path_factory, request):
    found = tmp_path_factory.mktemp("bin") / "train.de-en.de"
    with IndexedDatasetWriter(found, request.param) as writer:
        for size in (3, 1, 7):
            writer.add(np.arange(size, dtype=request.param).tobytes(), np.array([size], dtype=np.int32).tobytes())
    return found


@given(st.data())
def test_any_change_of_an_index_is_noticed(prefix, data):
    check_index(prefix)
    index = prefix.with_name(f"{prefix.name}.idx")
    content = index.read_bytes()
    place = data.draw(st.integers(0, len(content) - 1))
    other = data.draw(st.integers(0, 255).filter(lambda value: value != content[place]))
    for damaged in (content[:place], content[:place] + bytes([other]) + content[place + 1 :], content + b"\0"):
        index.write_bytes(damaged)
        with pytest.raises(ValueError, match=r"."):
            check_index(prefix)
    index.write_bytes(content)


@pytest.mark.parametrize("size", [0, -1, 1])
def test_data_of_another_size_is_noticed(prefix, size):
    data = prefix.with_name(f"{prefix.name}.bin")
    content = data.read_bytes()
    data.write_bytes(content[:size] if size < 1 else content + b"\0")
    with pytest.raises(ValueError, match="does not match its data"):
        check_index(prefix)
    data.write_bytes(content)


def test_an_empty_dataset_is_in_order(tmp_path):
    with IndexedDatasetWriter(tmp_path / "none", np.uint16):
        pass
    check_index(tmp_path / "none")
