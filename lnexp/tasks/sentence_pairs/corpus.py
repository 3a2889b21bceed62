"""Prepared pairs of sentences: their manifest counts labelled pairs."""

from typing import Any

from lnexp.corpora.prepare import PreparedCorpus


class PairsCorpus(PreparedCorpus):
    """Prepared pairs, as the task sees them."""

    @property
    def manifest(self) -> dict[str, Any]:
        """The contents of ``manifest.json``, with ``labelled_pairs`` for ``pairs``."""
        manifest = super().manifest
        return {"labelled_pairs": manifest.pop("pairs"), **manifest}
