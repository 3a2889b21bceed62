"""A prepared corpus of which one side is read: its manifest counts sentences."""

from typing import Any

from lnexp.corpora.prepare import PreparedCorpus


class OneSide(PreparedCorpus):
    """A prepared corpus, of one language or of two, as the task sees it."""

    @property
    def manifest(self) -> dict[str, Any]:
        """The contents of ``manifest.json``, with ``sentences`` for ``pairs``."""
        manifest = super().manifest
        return {"sentences": manifest.pop("pairs"), **manifest}
