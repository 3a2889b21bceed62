"""Translation: sentence pairs, an encoder-decoder, BLEU."""
