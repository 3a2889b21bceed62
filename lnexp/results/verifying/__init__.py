"""Whether published results agree with themselves, with their commands and with their claims."""
