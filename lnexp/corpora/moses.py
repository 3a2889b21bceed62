"""Tokenise as Moses does: byte for byte the output of ``tokenizer.perl`` for text in European scripts.

sacremoses does the work. This module adds the one rule of Moses that sacremoses lacks, and a cache of tokenised words,
because most words of a corpus occur many times.

sacremoses' table of letters is older than Perl's. In scripts that it lacks, Chinese and Korean among them, each
character becomes a token, where Perl keeps words together.
"""

import re
from functools import lru_cache
from itertools import pairwise

import sacremoses

#: Words in the cache before it is emptied: some 20 MB for each process and language.
CACHE_SIZE = 100_000
#: Separates words that are tokenised in one call; alphanumeric and upper case, so it does not affect its neighbours.
SEPARATOR = "QQLNEXPQQ"
#: White space for Python but not for Perl; Moses deletes these characters.
ASCII_SEPARATORS = re.compile("[\x1c-\x1f]")
#: Lines with these are tokenised whole: control characters, which Moses deletes, and our separator.
ODD = re.compile(f"[\x00-\x08\x0e-\x1f]|{SEPARATOR}")


class _Moses(sacremoses.MosesTokenizer):
    """sacremoses with Moses' rule for the last word: its full stop is split off, even from an abbreviation."""

    def __init__(self, lang: str):
        super().__init__(lang)
        self.lower, self.alpha = frozenset(self.IsLower), frozenset(self.IsAlpha)

    def islower(self, text: str) -> bool:
        """Return the same as sacremoses, which builds the set again in every call."""
        return self.lower.issuperset(text)

    def isanyalpha(self, text: str) -> bool:
        """Return the same as sacremoses, which builds the set again in every call."""
        return not self.alpha.isdisjoint(text)

    def handles_nonbreaking_prefixes(self, text: str) -> str:
        return _split_last_stop(super().handles_nonbreaking_prefixes(text))


def _split_last_stop(text: str) -> str:
    last = text.rpartition(" ")[2]
    return f"{text[:-1]} ." if last.endswith(".") and last.strip(".") else text


class MosesTokenizer:
    """Tokenises lines of one language, with Moses' escapes (``&apos;``) and without splitting at hyphens.

    The tokens of a word depend on the word alone and, where it ends in a full stop, on the first character of the next
    word. So each word is tokenised once, between separators, and a line is joined from its words. The few lines for
    which this does not hold are tokenised whole.
    """

    def __init__(self, language: str):
        self._moses = _Moses(language)
        self._cache: dict[str, str] = {}

    def tokenize(self, lines: list[str]) -> list[str]:
        """Return lines of tokens with one blank between them; the given lines may have any white space.

        After a final ``.'`` there is one more blank, as Moses leaves it.
        """
        if len(self._cache) > CACHE_SIZE:
            self._cache.clear()
        odd = bool(ODD.search("\n".join(lines)))  # one search for all lines, because there is hardly ever one
        keys = [None if odd and ODD.search(line) else self._keys(line) for line in lines]
        self._fill_cache({key for line in keys if line for key in line} - self._cache.keys())
        return [
            self.exact(line) if line_keys is None else self._join(line_keys)
            for line, line_keys in zip(lines, keys, strict=True)
        ]

    def exact(self, line: str) -> str:
        """Tokenise one line without the cache."""
        return self._moses.tokenize(ASCII_SEPARATORS.sub("", line), return_str=True)

    def _keys(self, line: str) -> list[str] | None:
        """Return the cache keys of a line's words, or None for a line that must be tokenised whole."""
        words = line.split()
        line = " ".join(words)
        if line.startswith(","):  # the rule for commas needs a character to the left
            return None
        if "'" in line and (line[0] == "'" or line[-1] == "'" or "' '" in line):
            return (
                None  # rules for quotes need both neighbours, and sacremoses' expressions cannot match one blank twice
            )
        if ". " in line:
            before = [f"{word} {self._kind(after)}" if word[-1] == "." else word for word, after in pairwise(words)]
            return [*before, words[-1]]
        return words

    def _kind(self, word: str) -> str:
        """Return a word that the rule for full stops does not distinguish from ``word``."""
        return "b" if word[0] in self._moses.lower else "5" if word[0] in "0123456789" else "X"

    def _fill_cache(self, keys: set[str]) -> None:
        if not keys:
            return
        between = f" {SEPARATOR} "
        done = self.exact(f"{SEPARATOR} {between.join(keys)} {SEPARATOR}")
        tokens = done.removeprefix(f"{SEPARATOR} ").removesuffix(f" {SEPARATOR}").split(between)
        for key, text in zip(keys, tokens, strict=True):
            self._cache[key] = text[:-2] if " " in key else text

    def _join(self, keys: list[str]) -> str:
        cache = self._cache
        return _split_last_stop(" ".join([cache[key] for key in keys]))


def missing_rules_warning(language: str) -> str | None:
    """Return a warning where Moses has no abbreviations for a language and uses the English ones, else None."""
    if language in sacremoses.corpus.NonbreakingPrefixes().available_langs.values():
        return None
    return f"{language}: Moses has no list of abbreviations; the English one is used"


@lru_cache
def moses_tokenizer(language: str) -> MosesTokenizer:
    """Return this process' tokeniser of a language."""
    return MosesTokenizer(language)


def lowercase(line: str) -> str:
    """Lower-case as Moses' ``lowercase.perl``, where Perl has no final sigma."""
    return line.replace("Σ", "σ").lower()
