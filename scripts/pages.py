"""Write the pages whose numbers come from the published results, docs/results.md and a part of README.md."""

from lnexp.results.pages_command import main

if __name__ == "__main__":
    main()
