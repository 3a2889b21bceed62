"""Judge the claims of published results again, from their own tables: after a claim or the code that judges changed."""

import json
from dataclasses import replace
from pathlib import Path

from lnexp.errors import UserError
from lnexp.files import read_regular, write_whole
from lnexp.recipes.load import recipe_of_results
from lnexp.results.claims import Origin, judge_all
from lnexp.results.provenance import read_provenance
from lnexp.results.published_evidence import published_evidence
from lnexp.results.verdict_file import Verdicts, write_verdicts
from lnexp.results.verdict_pages import with_verdicts


def judge_again(folder: Path) -> Verdicts:
    """Write ``verdicts.json`` and the verdicts in ``table.md`` of a folder of results anew, and return the verdicts.

    Of the old ``verdicts.json`` only what tables do not have is read: scope, command, the runs that could not be read,
    whether they are the paper's, and the hash of their settings. Its claims may be of another form.

    Raises:
        UserError: where a file cannot be read, or there is no such recipe.
    """
    try:
        old = json.loads(read_regular(folder / "verdicts.json"))
        recipe, claims = recipe_of_results(folder, old["recipe"]), old["claims"]
        evidence = published_evidence(recipe, folder, old["papers"])
        command = claims[0]["command"] if claims else ""
        profile, data, _ = folder.resolve().parts[-3:]
        origin = Origin(profile, data, old["scope"], command, read_provenance(folder).commits, old["malformed"])
        judged = judge_all(recipe, evidence, origin)
        verdicts = replace(judged, settings=old["settings"], papers=old["papers"])
        page = read_regular(folder / "table.md")
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise UserError(f"{folder}: cannot be judged again ({type(error).__name__}: {error})") from error
    write_verdicts(folder, verdicts)
    write_whole(folder / "table.md", with_verdicts(page, verdicts, folder))
    return verdicts
