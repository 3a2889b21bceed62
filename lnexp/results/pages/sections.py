"""Lead to the part of a page that shows a published result: its heading, and links to it."""

import re
from collections.abc import Mapping

from lnexp.results.pages.chapters import chapter_of
from lnexp.results.pages.headings import anchor
from lnexp.results.pages.published_folder import PublishedFolder

#: What a recipe's heading begins with, and the pages of chapters need not say again.
BEYOND = re.compile(r"^beyond the paper(?:, why)?(?:: |, )")


def section_title(place: str, of: PublishedFolder) -> str:
    """Return the heading of a result on the page of its chapter; it has no corpus where all of the chapter have one."""
    heading = BEYOND.sub("", of.recipe.heading)
    folders = {one.rpartition("/")[0] for one in (place, *chapter_of(place).places)}
    return f"{heading[0].upper()}{heading[1:]}{f' ({of.corpus})' if len(folders) > 1 else ''}"


def section_place(place: str, of: PublishedFolder) -> str:
    """Return the place in the project where a result is shown: the page of its chapter, and the heading.

    Args:
        place: its folder under ``results/``.
        of: what is there.
    """
    return f"{chapter_of(place).page}#{anchor(section_title(place, of))}"


def with_links(text: str, place: str, sections: Mapping[str, str]) -> str:
    """Return what a recipe says, with links from the names of others to where their results are shown.

    A name that is a word of its own, as ``map``, is one where ``recipe`` stands before it. In a sentence that names a
    profile nothing is linked, for the results may be another one's.

    Args:
        text: without links.
        place: of the recipe's results; of another recipe's those in the same folder are taken, if there are any.
        sections: what to link to, by the place of results.
    """
    folder, _, own = place.rpartition("/")

    def link(found: re.Match[str]) -> str:
        before, name = found.groups()
        places = [one for one in sections if one.endswith(f"/{name}")]
        if name == own or not places or not (before or re.search(r"[_\d]", name)):
            return found[0]
        here = f"{folder}/{name}"
        return f"{before}[{name}]({sections[here if here in places else places[0]]})"

    names = re.compile(r"((?:[Rr]ecipes? )?)(?<![\w-])([a-z]\w+)(?![\w-])")
    return "".join(
        sentence if "profile" in sentence else names.sub(link, sentence) for sentence in re.split(r"(?<=\. )", text)
    )
