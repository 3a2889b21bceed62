"""Tokenise text as Moses does: python scripts/tokenize_text.py --lang de [--lowercase] FILE…"""

from lnexp.corpora.tokenize_command import main

if __name__ == "__main__":
    main()
