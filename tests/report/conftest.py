"""A page of the committed results, opened in a real browser."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from helpers import run_script
from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.support.wait import WebDriverWait

from lnexp.paths import RESULTS_DIR

FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
)  # fmt: skip


class Browser(webdriver.Chrome):
    """Chromium, with what a test asks of a page."""

    def open(self, page: Path, width: int = 1200) -> None:
        self.set_window_size(width, 900)
        self.get("about:blank")  # the page that is there must not pass for this one
        self.get(page.resolve().as_uri())
        WebDriverWait(self, 60).until(
            lambda _: self.js("return document.documentElement.dataset.ready")
        )  # its script's last word

    def js(self, code: str, *arguments):
        """What a body of JavaScript returns."""
        return self.execute_script(code, *arguments)

    def complaints(self) -> list[str]:
        """What the page wrote to the console as errors."""
        return [entry["message"] for entry in self.get_log("browser") if entry["level"] == "SEVERE"]


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    chromium, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if not chromium or not driver:
        pytest.skip("no chromium and chromedriver here")
    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    for flag in FLAGS:
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    running = Browser(options=options, service=Service(driver))
    yield running
    running.quit()


@pytest.fixture(scope="session")
def report(tmp_path_factory) -> Path:
    """The page of all that is committed, with no runs."""
    return _report(tmp_path_factory.mktemp("report"))


@pytest.fixture(scope="session")
def short_report(tmp_path_factory) -> Path:
    """The page of two recipes, one of them with a heat map: a browser draws all of its plots in a second."""
    here = tmp_path_factory.mktemp("report")
    for name in ("fig2a", "placements"):
        place = Path("small", "toy", name)
        shutil.copytree(RESULTS_DIR / place, here / "results" / place)
    return _report(here, str(here / "results"))


def _report(here: Path, *places: str) -> Path:
    page, runs = here / "report.html", here / "runs"
    runs.mkdir()
    done = run_script("report", *places, "--output", str(page), "--runs", str(runs))
    assert done.returncode == 0, done.stderr
    return page
