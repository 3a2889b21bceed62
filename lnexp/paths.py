"""Locate the project's own folders."""

from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CONFIG_DIR = ROOT / "configs"
RECIPES_DIR = ROOT / "recipes"
