"""One run: our resolved config becomes fairseq's, trains, validates every epoch, and leaves its records."""
