"""Judge published results again, from their tables."""

from lnexp.results.judge_command import main

if __name__ == "__main__":
    main()
