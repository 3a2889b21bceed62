"""Text files: only a line feed ends a line."""

from hypothesis import given
from hypothesis import strategies as st

from lnexp.corpora.text import chunks, count_lines, read_lines

line = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\n"))


@given(lines=st.lists(line))
def test_any_text_is_read_back(tmp_path_factory, lines):
    path = tmp_path_factory.mktemp("text") / "file"
    path.write_text("".join(f"{text}\n" for text in lines), encoding="utf-8", newline="\n")
    assert read_lines(path) == lines
    assert count_lines(path) == len(lines)


@given(lines=st.lists(line), size=st.integers(1, 5))
def test_chunks_are_all_the_lines_in_order(lines, size):
    found = list(chunks(lines, size))
    assert [text for chunk in found for text in chunk] == lines
    assert all(len(chunk) == size for chunk in found[:-1])


@given(lengths=st.lists(st.integers(1, 12), max_size=40))
def test_chunks_of_larger_items_are_no_larger_than_they_must_be(lengths):
    items = [["a line"] * length for length in lengths]
    found = list(chunks(items, 10, size_of=len))
    assert [item for chunk in found for item in chunk] == items
    assert all(sum(map(len, chunk[:-1])) < 10 for chunk in found)
    assert all(sum(map(len, chunk)) >= 10 for chunk in found[:-1])
