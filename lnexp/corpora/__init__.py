"""Prepare corpora: download, tokenise, filter, segment into subwords, binarise for fairseq. Imports no model."""
