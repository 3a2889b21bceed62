"""What tests of runs share."""

import pytest

from lnexp.runs.folder import RunFolder


@pytest.fixture
def folder(tmp_path) -> RunFolder:
    path = tmp_path / "runs" / "adhoc" / "post_ln-s1-0123abcd"
    (path / "checkpoints").mkdir(parents=True)
    return RunFolder(path)
