"""Run ``scripts/wandb_board.py``: save the board in a project of the user's."""

import json

from lnexp.cli import Parser, one_line_errors
from lnexp.errors import UserError, first_line


def main() -> None:
    """``wandb_board.py ENTITY``: save the board in a project of the user's."""
    parser = Parser(description="Save the board of lnexp's runs in a wandb project of your own.")
    parser.add_argument("entity", help="your user or team in wandb")
    parser.add_argument("--project", default="lnexp", help="tracker.project of the runs (default: lnexp)")
    parser.add_argument("--dry-run", action="store_true", help="only print its definition")
    arguments = parser.parse_args()
    with one_line_errors():
        from lnexp.tracking.board import board

        workspace = board(arguments.entity, arguments.project)
        if arguments.dry_run:
            definition = workspace._to_model().model_dump(mode="json", by_alias=True, exclude_none=True)
            print(json.dumps(definition, indent=1))
            return
        import wandb

        try:
            print(workspace.save().url)
        except wandb.Error as error:
            raise UserError(f"wandb: {first_line(error)}") from error
