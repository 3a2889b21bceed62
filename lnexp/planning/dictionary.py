"""Make up a dictionary of a given size, for a model whose corpus is not there."""

from fairseq.data import Dictionary


def made_up_dictionary(words: int) -> Dictionary:
    """Return a dictionary of so many made-up words, fairseq's own symbols included."""
    dictionary = Dictionary()
    while len(dictionary) < words:
        dictionary.add_symbol(f"word{len(dictionary)}")
    return dictionary
