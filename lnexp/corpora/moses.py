"""Moses tokenisation, byte for byte what ``tokenizer.perl`` of the Moses toolkit gives for text in European scripts.

The work is sacremoses'. Two things stand on top: the one rule of Moses that sacremoses leaves out, and a memory, for
almost every word of a corpus has been tokenised before.

sacremoses' table of letters is older than Perl's: of Chinese, Korean and other scripts that it lacks, it makes each
character a token, where Perl keeps words together.
"""

import re
from functools import lru_cache
from itertools import pairwise

import sacremoses

#: Words remembered before the memory is emptied: some 20 MB a process and language.
MEMORY = 100_000
#: Stands between words that are tokenised in one go, and is a neighbour without influence: alphanumeric, upper case.
SEPARATOR = "QQLNEXPQQ"
#: Python takes these for white space; Perl does not, and Moses deletes them.
ASCII_SEPARATORS = re.compile("[\x1c-\x1f]")
#: What no word should have in it: control characters, which Moses deletes, and our separator.
ODD = re.compile(f"[\x00-\x08\x0e-\x1f]|{SEPARATOR}")


class _Moses(sacremoses.MosesTokenizer):
    """sacremoses with Moses' rule for the last word: its full stop is split off, abbreviation or not."""

    def __init__(self, lang: str):
        super().__init__(lang)
        self.lower, self.alpha = frozenset(self.IsLower), frozenset(self.IsAlpha)

    def islower(self, text: str) -> bool:
        """As sacremoses has it, which builds the set anew at every call."""
        return self.lower.issuperset(text)

    def isanyalpha(self, text: str) -> bool:
        """As sacremoses has it, which builds the set anew at every call."""
        return not self.alpha.isdisjoint(text)

    def handles_nonbreaking_prefixes(self, text: str) -> str:
        return _split_last_stop(super().handles_nonbreaking_prefixes(text))


def _split_last_stop(text: str) -> str:
    last = text.rpartition(" ")[2]
    return f"{text[:-1]} ." if last.endswith(".") and last.strip(".") else text


class MosesTokenizer:
    """Tokenises lines of one language, with Moses' escapes (``&apos;``) and without splitting at hyphens.

    Moses looks no further than from a word to its neighbours: to the blank between them, and past a full stop to the
    first character of the next word. So a line is put together from its words, each tokenised once between stand-ins
    for its neighbours. The few lines where that is not so go to sacremoses whole.
    """

    def __init__(self, language: str):
        self._moses = _Moses(language)
        self._memory: dict[str, str] = {}

    def tokenize(self, lines: list[str]) -> list[str]:
        """Tokenise lines (any white space) into lines of tokens with one blank between them.

        After a last ``.'`` there is one more blank: that is how Moses has it.
        """
        if len(self._memory) > MEMORY:
            self._memory.clear()
        odd = bool(ODD.search("\n".join(lines)))  # one search for all lines: there is hardly ever one
        keys = [None if odd and ODD.search(line) else self._keys(line) for line in lines]
        self._remember({key for line in keys if line for key in line} - self._memory.keys())
        return [
            self.exact(line) if line_keys is None else self._join(line_keys)
            for line, line_keys in zip(lines, keys, strict=True)
        ]

    def exact(self, line: str) -> str:
        """One line, all of it by sacremoses and the rule it leaves out."""
        return self._moses.tokenize(ASCII_SEPARATORS.sub("", line), return_str=True)

    def _keys(self, line: str) -> list[str] | None:
        """What the words of a line are remembered by; None for a line that words alone do not decide."""
        words = line.split()
        line = " ".join(words)
        if line.startswith(","):  # it wants a character to its left
            return None
        if "'" in line and (line[0] == "'" or line[-1] == "'" or "' '" in line):
            return None  # it wants one to either side, and sacremoses' expressions cannot use one blank twice
        if ". " in line:
            before = [f"{word} {self._kind(after)}" if word[-1] == "." else word for word, after in pairwise(words)]
            return [*before, words[-1]]
        return words

    def _kind(self, word: str) -> str:
        """A word that begins as ``word`` does, as far as the rule for full stops can tell."""
        return "b" if word[0] in self._moses.lower else "5" if word[0] in "0123456789" else "X"

    def _remember(self, keys: set[str]) -> None:
        if not keys:
            return
        between = f" {SEPARATOR} "
        done = self.exact(f"{SEPARATOR} {between.join(keys)} {SEPARATOR}")
        tokens = done.removeprefix(f"{SEPARATOR} ").removesuffix(f" {SEPARATOR}").split(between)
        for key, text in zip(keys, tokens, strict=True):
            self._memory[key] = text[:-2] if " " in key else text

    def _join(self, keys: list[str]) -> str:
        memory = self._memory
        return _split_last_stop(" ".join([memory[key] for key in keys]))


def without_rules(language: str) -> str | None:
    """A word of warning where Moses has no abbreviations for a language, and so takes the English ones."""
    if language in sacremoses.corpus.NonbreakingPrefixes().available_langs.values():
        return None
    return f"{language}: no list of abbreviations for it, the English one is taken"


@lru_cache
def moses_tokenizer(language: str) -> MosesTokenizer:
    """This process' tokeniser of a language."""
    return MosesTokenizer(language)


def lowercase(line: str) -> str:
    """As Moses' ``lowercase.perl``: Perl knows no final sigma."""
    return line.replace("Σ", "σ").lower()
