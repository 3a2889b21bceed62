"""Run ``scripts/train.py`` in a fork of a process that has imported wandb: see warm_server.py.

Importing wandb makes a temporary folder, which the end of the process removes; a fork needs one of its own.
"""

import runpy
import sys
from pathlib import Path

from wandb.sdk.data_types._private import MEDIA_TMP

MEDIA_TMP._finalizer.detach()
MEDIA_TMP.__init__("wandb-media")
sys.argv[0] = str(Path(__file__).parents[2] / "scripts" / "train.py")
sys.path[0] = str(Path(sys.argv[0]).parent)
runpy.run_path(sys.argv[0], run_name="__main__")
