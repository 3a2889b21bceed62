"""What a person sees of the page, in a headless Chromium."""

import json
import re

import pandas as pd
import pytest
from helpers import run_script
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.support.wait import WebDriverWait

from lnexp.paths import RESULTS_DIR
from lnexp.result_tables import result_folders
from lnexp.results.judging.verdicts import all_verdicts, not_run, sound_recipes

pytestmark = pytest.mark.slow

CONFIG = "model: {_name: lnexp_pre_ln}\noptimizer: {_name: lnexp_adam}\n"
FIG2A = "a-small-toy-fig2a"
SEE = "document.getElementById(arguments[0]).scrollIntoView();"
DRAWN = "return document.querySelectorAll(`#${arguments[0]} .js-plotly-plot .scatterlayer .trace`).length"


@pytest.fixture
def open_report(browser, report):
    browser.open(report)
    return browser


@pytest.fixture
def open_short_report(browser, short_report):
    browser.open(short_report)
    return browser


def wait_until_drawn(browser, section: str) -> int:
    browser.js(SEE, section)
    return WebDriverWait(browser, 60).until(lambda _: browser.js(DRAWN, section))


def test_every_claim_and_figure_is_there_and_nothing_is_asked_of_a_network(open_report, report):
    found = all_verdicts(RESULTS_DIR)
    claims = [claim for one in found for claim in one.content.claims]
    assert open_report.js("return document.querySelectorAll('#claims-table tbody tr').length") == len(claims)
    waiting = sum(len(one.content.claims) for one in not_run(RESULTS_DIR, found, sound_recipes()[0]))
    counts = re.findall(r"(\d+) claims at profile", open_report.js("return document.body.textContent"))
    assert sum(map(int, counts)) == waiting
    assert open_report.js("return document.querySelectorAll('article').length") == len(result_folders(RESULTS_DIR))
    resources = open_report.js("return performance.getEntriesByType('resource').map((one) => one.name)")
    assert [name for name in resources if not name.startswith("data:")] == []
    assert open_report.complaints() == []
    assert report.stat().st_size < 8_000_000


def test_plots_are_drawn_when_they_come_into_view_with_words_for_those_who_do_not_see_them(open_report):
    assert open_report.js("return document.querySelectorAll('.js-plotly-plot').length") < 100
    assert wait_until_drawn(open_report, FIG2A) == 3 * 4 * 2, "three panels, four arms, a line and its band"
    said = open_report.js(f"return document.querySelector('#{FIG2A} [role=img]').getAttribute('aria-label')")
    assert "by epoch. w/o warm-up, lower lr_max: 4." in said
    assert open_report.js("return document.querySelectorAll('.plot:not([aria-label])').length") == 0
    assert open_report.complaints() == []


def test_the_first_screen_answers_and_the_page_ends_within_forty(browser, report):
    browser.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride", {"width": 1280, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    )
    browser.open(report)
    assert browser.js("return document.getElementById('answer').getBoundingClientRect().bottom") <= 900
    assert browser.js("return document.documentElement.scrollHeight") <= 40 * 900
    assert "Post-LN needs warm-up, Pre-LN trains without it" in browser.js(
        "return document.querySelector('.answer').innerText"
    )
    links = "[...document.querySelectorAll('nav a')].map((one) => one.getAttribute('href').slice(1))"
    assert browser.js(f"return {links}.filter((name) => !document.getElementById(name))") == []
    browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_who_trains_is_a_table_in_words(open_short_report):
    section = open_short_report.js("return document.getElementById('a-small-toy-placements').innerText")
    assert "needs warm-up 0.8 / 92.9" in section
    assert "by arm" in section.lower()


def test_a_heat_map_has_a_number_in_every_cell(open_short_report):
    place = "[data-map=a-small-toy-placements-map]"
    open_short_report.js(f"document.querySelector('{place}').closest('details').open = true")
    open_short_report.js(f"document.querySelector('{place}').scrollIntoView()")
    cells = f"return document.querySelectorAll('{place} .heatmap-label').length"
    assert WebDriverWait(open_short_report, 60).until(lambda _: open_short_report.js(cells)) == 2 * 2 * 9
    words = open_short_report.js(f"return document.querySelector('{place}').getAttribute('aria-label')")
    texts = f"return [...document.querySelectorAll('{place} .heatmap-label')].map((one) => one.textContent)"
    assert sorted(open_short_report.js(texts)) == sorted(re.findall(r" (\d+\.\d)(?=[,.])", words))
    assert open_short_report.complaints() == []


def test_a_point_says_its_numbers_when_it_is_pointed_at(open_short_report):
    wait_until_drawn(open_short_report, FIG2A)
    plot = open_short_report.find_element(By.CSS_SELECTOR, f"#{FIG2A} .js-plotly-plot .drag.nsewdrag")
    epochs = pd.read_csv(RESULTS_DIR / "small" / "toy" / "fig2a" / "epochs.csv")
    mean = epochs[(epochs["arm"] == "no_warmup_low") & (epochs["epoch"] == 8)]["valid_loss"].mean()
    ActionChains(open_short_report).move_to_element_with_offset(plot, *place_of_last_point(open_short_report)).perform()
    hover = f"return document.querySelector('#{FIG2A} .hovertext')?.textContent"
    said = WebDriverWait(open_short_report, 60).until(lambda _: open_short_report.js(hover))
    assert f"8: {mean:.4g}" in said
    assert "w/o warm-up, lower lr_max" in said
    assert "seeds from" in said


def test_values_are_there_as_text_too(open_short_report):
    open_short_report.js(f"document.querySelector('#{FIG2A} .values').open = true")
    rows = (
        f"return [...document.querySelectorAll('#{FIG2A} .values table:first-of-type tr')].map((one) => one.innerText)"
    )
    told = WebDriverWait(open_short_report, 60).until(lambda _: open_short_report.js(rows))
    epochs = pd.read_csv(RESULTS_DIR / "small" / "toy" / "fig2a" / "epochs.csv")
    mean = epochs[(epochs["arm"] == "no_warmup_low") & (epochs["epoch"] == 8)]["valid_loss"].mean()
    (last,) = [row.split("\t")[-1] for row in told if row.startswith("w/o warm-up, lower lr_max")][:1]
    assert last.startswith("8: ")
    assert float(last[3:]) == pytest.approx(mean, rel=1e-3)


def place_of_last_point(browser) -> tuple[int, int]:
    """Where the first arm's last point is, from the middle of its plot, in pixels."""
    return tuple(
        browser.js(
            """const plot = document.querySelector(arguments[0]);
            const last = plot.querySelectorAll('.scatterlayer .trace:nth-child(2) .point');
            const at = last[last.length - 1].getBoundingClientRect();
            const box = plot.querySelector('.drag.nsewdrag').getBoundingClientRect();
            return [at.x + at.width / 2 - box.x - box.width / 2, at.y + at.height / 2 - box.y - box.height / 2];""",
            f"#{FIG2A} .js-plotly-plot",
        )
    )


def test_commands_are_copied_or_at_least_selected(open_short_report):
    row = "#runs-table tbody tr"
    open_short_report.js("document.querySelector('#runs details').open = true")
    open_short_report.js(f"document.querySelector('{row} td:last-child details').open = true")
    open_short_report.js(f"document.querySelector('#{FIG2A} .command').closest('details').open = true")
    for place in (f"#{FIG2A} .command", f"{row} td:last-child details"):
        open_short_report.js("getSelection().removeAllRanges()")
        open_short_report.find_element(By.CSS_SELECTOR, f"{place} .copy").click()
        wait = WebDriverWait(open_short_report, 60, poll_frequency=0.1)  # it is said for 1.5 s
        said = wait.until(lambda _, place=place: outcome_of_copying(open_short_report, place))
        command = open_short_report.js(f"return document.querySelector('{place} code').textContent")
        assert re.match(r"python scripts/(train|reproduce)\.py ", command)
        assert said == "Copied" or open_short_report.js("return String(getSelection())").strip() == command


def outcome_of_copying(browser, place: str) -> str | None:
    said = browser.js(f"return document.querySelector('{place} .copy').textContent")
    return None if said == "Copy" else said


def test_a_click_or_a_key_hides_an_arm_in_every_panel(open_short_report):
    wait_until_drawn(open_short_report, FIG2A)
    for press in ("click()", "focus()"):
        open_short_report.js(f"document.querySelector('#{FIG2A} .legend button').{press}")
        if press == "focus()":
            open_short_report.switch_to.active_element.send_keys(" ")
        pressed = open_short_report.js(f"return document.querySelector('#{FIG2A} .legend button').ariaPressed")
        assert open_short_report.js(DRAWN, FIG2A) == (24 if pressed == "true" else 18)
    assert pressed == "true", "and shows it again"


def test_filters_filter(open_report):
    open_report.js("document.querySelector('#runs details').open = true")
    box = open_report.find_element(By.CSS_SELECTOR, "[data-filters=runs-table]")
    box.send_keys("FIG2A no_warmup_low finished")
    rows = "document.querySelectorAll('#runs-table tbody tr:not([hidden])')"
    shown = open_report.js(f"return [...{rows}].map((row) => row.textContent)")
    assert 3 <= len(shown) < 40  # of fig2a and fig2a_coupled
    assert all("no_warmup_low" in text for text in shown)
    said = open_report.js("return document.querySelector('[data-shown=runs-table]').textContent")
    assert said.startswith(f"{len(shown)} of ")
    box.clear()


COLOURS = """
return [...document.querySelectorAll(`#${arguments[0]} .js-plotly-plot`)]
  .flatMap((one) => one.data.map((line) => line.line?.color))"""


def lines_that_stand_out(browser, figure) -> tuple[bool, bool]:
    """Whether a figure has a white line, and whether it has a black one; it is painted soon after its page."""
    drawn = browser.js(COLOURS, figure)
    return "#ffffff" in drawn, "#000000" in drawn


def test_dark_is_dark_and_light_is_light(open_report):
    placements = "a-theory-toy-theory_placements"  # one of its lines is black on white
    wait_until_drawn(open_report, placements)

    def background() -> int:
        colour = open_report.js("return getComputedStyle(document.body).backgroundColor")
        return sum(int(part) for part in colour[4:-1].split(","))

    for scheme, dark in (("dark", True), ("light", False)):
        feature = {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
        open_report.execute_cdp_cmd("Emulation.setEmulatedMedia", feature)
        assert (background() < 200) is dark
        WebDriverWait(open_report, 60).until(
            lambda _, dark=dark: lines_that_stand_out(open_report, placements) == (dark, not dark),
            "a black line is seen",
        )
    open_report.js("document.getElementById('theme').click()")
    assert background() < 200
    assert "#ffffff" in open_report.js(COLOURS, placements)


def test_on_a_phone_nothing_is_wider_than_the_screen(browser, report):
    size = {"width": 390, "height": 800, "deviceScaleFactor": 2, "mobile": True}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    browser.open(report)
    wait_until_drawn(browser, FIG2A)
    assert browser.js("return document.documentElement.scrollWidth") <= 390
    panels = f"document.querySelectorAll('#{FIG2A} .panel')"
    tops = browser.js(f"return [...{panels}].map((one) => one.getBoundingClientRect().top)")
    assert sorted(set(tops)) == tops, "below each other"
    verdict = browser.js("return document.querySelector('#claims-table .verdict').getBoundingClientRect().right")
    assert verdict <= 390, "is in sight"
    browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_a_finger_that_begins_on_a_plot_scrolls_the_page(browser, short_report):
    browser.execute_cdp_cmd("Emulation.setTouchEmulationEnabled", {"enabled": True})
    browser.open(short_report)
    wait_until_drawn(browser, FIG2A)
    plot = browser.js(f"return document.querySelector('#{FIG2A} .js-plotly-plot')")
    before = browser.js("return [scrollY, arguments[0].layout.yaxis.range]", plot)
    x, y = browser.js("const box = arguments[0].getBoundingClientRect(); return [box.x + 150, box.y + 150]", plot)
    touch = [("touchStart", y), *(("touchMove", y - 10 * step) for step in range(1, 12)), ("touchEnd", None)]
    for kind, place in touch:
        points = [] if place is None else [{"x": x, "y": place}]
        browser.execute_cdp_cmd("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})
    WebDriverWait(browser, 60).until(lambda _: browser.js("return scrollY") > before[0])
    assert browser.js("return arguments[0].layout.yaxis.range", plot) == before[1], "and the plot stays as it is"
    browser.execute_cdp_cmd("Emulation.setTouchEmulationEnabled", {"enabled": False})


def test_on_paper_every_plot_is_drawn(browser, short_report):
    browser.open(short_report)
    plots, drawn = (f"return document.querySelectorAll('{kind}').length" for kind in (".plot", ".js-plotly-plot"))
    assert browser.js(drawn) < browser.js(plots), "some are out of view"
    browser.js("dispatchEvent(new Event('beforeprint'))")
    assert browser.js(drawn) == browser.js(plots)
    width = f"return document.querySelector('#{FIG2A} .js-plotly-plot .main-svg').getBoundingClientRect().width"
    assert browser.js(width) * 3 < 700, "three panels stand beside each other on A4"
    assert len(browser.execute_cdp_cmd("Page.printToPDF", {})["data"]) > 100_000
    browser.js("dispatchEvent(new Event('afterprint'))")
    assert browser.js(width) * 3 > 700, "and are as wide as the screen again"
    assert browser.complaints() == []


def test_names_are_shown_as_text_and_broken_folders_are_listed(browser, tmp_path):
    evil = "<script>document.title='taken'</script><img src=x onerror=\"document.title='taken'\">"
    runs = tmp_path / "runs" / "adhoc"
    image = evil.replace("/", "")
    for name, config in ((f"{image}-0123abcd", None), ("half-4567cdef", "model: {"), (f"{image}-89ab0123", CONFIG)):
        (runs / name).mkdir(parents=True)
        (runs / name / "status.json").write_text(json.dumps({"state": "failed", "why": evil, "updates": 0}))
        if config:
            (runs / name / "config.yaml").write_text(config)
    page = tmp_path / "report.html"
    source = RESULTS_DIR / "small" / "toy" / "fig2a"
    folder = tmp_path / "small" / "toy" / "fig2a"
    folder.mkdir(parents=True)
    claimed, escaped = "Fig. 2(a): with warm-up Post-LN trains at both lr_max", json.dumps(evil)[1:-1]
    for path in source.glob("*.[cj]s*"):
        (folder / path.name).write_text(path.read_text().replace(claimed, escaped))
    done = run_script("report", str(folder), "--runs", str(tmp_path / "runs"), "--output", str(page))
    assert done.returncode == 0, done.stderr
    assert "2 run folders cannot be read" in done.stdout
    browser.open(page)
    assert browser.title != "taken"
    assert evil in browser.js("return document.getElementById('claims').textContent")
    problems = browser.js("return document.querySelector('#runs details.problem').innerText")
    assert "half-4567cdef" in problems
    assert "<script>" in problems
    rows = browser.js("return document.getElementById('runs-table').textContent")
    assert f"{image}-89ab0123" in rows
    assert f"failed: {evil}" in rows
    assert browser.complaints() == []


def test_two_places_stand_side_by_side(browser, tmp_path):
    page = tmp_path / "report.html"
    places = [str(RESULTS_DIR / "small" / "toy" / name) for name in ("fig2a", "fig2a_coupled")]
    done = run_script("report", *places, "--runs", str(tmp_path), "--output", str(page))
    assert done.returncode == 0, done.stderr
    browser.open(page)
    articles = "[...document.querySelectorAll('article')]"
    left, right = browser.js(f"return {articles}.map((one) => one.getBoundingClientRect().x)")
    assert left < right
    assert browser.js("return document.documentElement.scrollWidth") <= browser.js("return innerWidth")
    heads = "[...document.querySelectorAll('#claims-table th[scope=col]')]"
    headings = browser.js(f"return {heads}.map((one) => one.textContent)")
    assert headings.count("verdict") == 2
    said = browser.js("return document.querySelector('#claims-table tbody tr').cells.length")
    assert said == 6, "a claim that the other has not has a dash beside it"
    scopes = browser.js("return [...document.querySelectorAll('article .scope code')].map((one) => one.textContent)")
    assert scopes == places
    assert browser.complaints() == []
