"""A parallel corpus of which one side is read: its manifest counts sentences."""

from typing import Any

from lnexp.corpora.prepare import PreparedCorpus, corpus_folder, prepare

__all__ = ["OneSide", "corpus_folder", "prepare"]


class OneSide(PreparedCorpus):
    """A prepared parallel corpus, as the task sees it."""

    @property
    def manifest(self) -> dict[str, Any]:
        manifest = super().manifest
        return {"sentences": manifest.pop("pairs"), **manifest}
