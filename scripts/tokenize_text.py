"""Tokenise text as Moses does: python scripts/tokenize_text.py --lang de [--lowercase] FILE…"""

from lnexp.commands.tokenize_text import main

if __name__ == "__main__":
    main()
