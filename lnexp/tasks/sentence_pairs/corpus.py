"""Prepared pairs of sentences: their manifest counts labelled pairs."""

from typing import Any

from lnexp.corpora.prepare import PreparedCorpus


class PairsCorpus(PreparedCorpus):
    """Prepared pairs, as the task sees them."""

    @property
    def manifest(self) -> dict[str, Any]:
        """The contents of ``manifest.json``, with ``labelled_pairs`` for ``pairs``, and which pairs they are."""
        manifest = super().manifest
        which = manifest["settings"]["pairs"]["name"]
        return {"labelled_pairs": manifest.pop("pairs"), "pairs_name": which, **manifest}
