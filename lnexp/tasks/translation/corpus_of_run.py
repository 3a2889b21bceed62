"""Find the prepared corpus that a run was trained on."""

from omegaconf import DictConfig

from lnexp.corpora.prepare import PreparedCorpus, prepare
from lnexp.errors import UserError
from lnexp.runs.environment import other_data
from lnexp.runs.folder import RunFolder


def corpus_of_run(cfg: DictConfig, folder: RunFolder, data_dir: str) -> PreparedCorpus:
    """Return the run's corpus, prepared again where it is missing. Raises UserError where its text has changed."""
    corpus = prepare(cfg.data, data_dir)
    if other_data(folder.environment, corpus.manifest):
        raise UserError(f"{corpus.folder}: its text is not what {folder.name} was trained on")
    return corpus
