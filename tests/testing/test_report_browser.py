"""The page of a report in Chromium: clicked, filtered, searched, and never running what it shows.

Needs Chromium and its driver: ``apt-get install -y chromium chromium-driver``.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest
from selenium import webdriver
from selenium.common.exceptions import ElementClickInterceptedException, NoAlertPresentException
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import WebDriverWait

from testing import cli
from testing.results import LeafMetrics
from tests.testing.nights import crash, passing, row, write

# GitHub's machines have Chrome.
CHROMIUM: Final = shutil.which("chromium") or shutil.which("google-chrome")
DRIVER: Final = shutil.which("chromedriver")
FLAGS: Final = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
ALERT: Final = "<script>alert(1)</script></script><img src=x onerror=alert(2)>"

pytestmark = pytest.mark.skipif(
    not (CHROMIUM and DRIVER), reason="apt-get install -y chromium chromium-driver"
)


@pytest.fixture(scope="module")
def browser() -> Iterator[webdriver.Chrome]:
    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    for flag in FLAGS:
        options.add_argument(flag)
    # An alert would stay open, and every test after it would fail.
    options.set_capability("unhandledPromptBehavior", "ignore")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    # Selenium's manager, which looks for drivers to download, is not asked where one is named.
    driver = webdriver.Chrome(options, webdriver.ChromeService(DRIVER))
    yield driver
    driver.quit()


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The address of a page of five cases, one of which vanished."""
    directory = tmp_path_factory.mktemp("night")
    metrics = {ALERT: LeafMetrics(float("nan"), 0.5, None, 0.9, 0.25, 1.5)}
    now = [
        passing(),
        passing(variant="dynamic", used=0.83),
        crash(stack=["modeling_yolos.py:146"]),
        row("EvilModel", "failed", ALERT, message=ALERT, metrics=metrics, area="other"),
        row("CvtModel", "skipped", "cvt", scope="neuron", reason=ALERT, runtime="neuronx"),
    ]
    before = [passing(), passing(variant="dynamic"), crash(), row("GoneModel", message=ALERT)]
    write(directory / "now", now)
    write(directory / "before", before)
    arguments = [str(directory / "now"), "--against", str(directory / "before")]
    assert cli.main(["report", *arguments]) == 1
    return (directory / "now" / "report.html").as_uri()


@pytest.fixture
def opened(browser: webdriver.Chrome, page: str) -> Iterator[webdriver.Chrome]:
    """The page as it is first seen, and no complaint of the browser's after the test."""
    browser.get("about:blank")
    browser.get(page)
    yield browser
    assert [entry["message"] for entry in browser.get_log("browser")] == []


def shown(browser: webdriver.Chrome) -> list[str]:
    """The rows of the matrix that can be seen."""
    rows = browser.find_elements(By.CSS_SELECTOR, "#cases tr[data-area] th")
    return [name.text for name in rows if name.is_displayed()]


def open_case(browser: webdriver.Chrome, outcome: str) -> str:
    """Click the case of this outcome; the text of what opens."""
    found = browser.find_element(By.CSS_SELECTOR, f"#cases td a.{outcome}")
    # What comes into sight is laid out then, and may move what is to be clicked.
    wait = WebDriverWait(browser, 30, 0.1, [ElementClickInterceptedException])
    wait.until(lambda _: found.click() is None)
    return str(browser.find_element(By.ID, "details").text)


def test_the_first_screen_says_what_changed(opened: webdriver.Chrome) -> None:
    assert opened.find_element(By.TAG_NAME, "h1").text.startswith("✗ Regressions against ")
    changes = opened.find_element(By.ID, "changes")
    assert "1 vanished" in changes.text
    assert changes.location["y"] + changes.size["height"] < opened.get_window_size()["height"]


def test_a_click_opens_what_is_known_of_a_case(opened: webdriver.Chrome) -> None:
    told = open_case(opened, "crashed")
    for part in (
        "YolosModel",
        "† crashed · neuron/xla · static",
        "aten::upsample_bicubic2d",
        "embeddings.position_embeddings",
        "modeling_yolos.py:146",
        "the process died by SIGSEGV in stage 'export' and left no message",
        "transformers 4.57.6",
        "pytest tests/models/test_text_encoders.py::YolosModelExportTest::",
    ):
        assert part in told


def test_figures_are_told_by_output(opened: webdriver.Chrome) -> None:
    open_case(opened, "failed")
    cells = [cell.text for cell in opened.find_elements(By.CSS_SELECTOR, "#details td")]
    assert cells == [ALERT, "nan", "0.5", "–", "0.900000", "0.25", "1.5"]


def test_reasons_and_messages_are_text_and_nothing_of_them_runs(opened: webdriver.Chrome) -> None:
    assert open_case(opened, "failed").count(ALERT) >= 3
    opened.find_element(By.CSS_SELECTOR, "#details .close").click()
    assert ALERT in open_case(opened, "skipped")
    assert opened.find_elements(By.TAG_NAME, "img") == []
    assert len(opened.find_elements(By.TAG_NAME, "script")) == 2
    with pytest.raises(NoAlertPresentException):
        opened.switch_to.alert.accept()


def test_a_case_has_an_address_and_escape_closes_it(opened: webdriver.Chrome, page: str) -> None:
    open_case(opened, "crashed")
    address = opened.current_url
    opened.find_element(By.ID, "details").send_keys("\ue00c")
    assert not opened.find_element(By.ID, "details").is_displayed()
    assert opened.current_url == page
    opened.get("about:blank")
    opened.get(address)
    assert "YolosModel" in opened.find_element(By.ID, "details").text


def test_going_back_closes_it(opened: webdriver.Chrome) -> None:
    open_case(opened, "crashed")
    opened.back()
    wait = WebDriverWait(opened, 30, 0.1)
    assert wait.until(lambda _: not opened.find_element(By.ID, "details").is_displayed())


def test_the_same_case_opens_again(opened: webdriver.Chrome) -> None:
    for _ in range(2):
        assert "YolosModel" in open_case(opened, "crashed")
        opened.find_element(By.CSS_SELECTOR, "#details .close").click()


def test_a_vanished_case_opens_too(opened: webdriver.Chrome) -> None:
    opened.find_element(By.LINK_TEXT, "GoneModel [neuron/xla static]").click()
    told = opened.find_element(By.ID, "details").text
    assert "vanished" in told
    assert ALERT in told


def test_outcomes_filter_and_add_up(opened: webdriver.Chrome) -> None:
    assert shown(opened) == ["EvilModel", "BertModel", "CvtModel", "YolosModel"]
    for outcome, rows in [
        ("crashed", ["YolosModel"]),
        ("failed", ["EvilModel", "YolosModel"]),
    ]:
        opened.find_element(By.CSS_SELECTOR, f".chip[data-outcome={outcome}]").click()
        assert shown(opened) == rows
    assert opened.find_element(By.ID, "shown").text == "2 of 5 cases"
    opened.find_element(By.CSS_SELECTOR, "button[type=reset]").click()
    assert len(shown(opened)) == 4


@pytest.mark.parametrize(
    ("field", "value", "rows"),
    [
        ("engine", "neuron/neuronx", ["CvtModel"]),
        ("variant", "dynamic", ["BertModel"]),
        ("area", "other", ["EvilModel"]),
        ("type", "yolos", ["YolosModel"]),
        ("search", "yolos", ["YolosModel"]),
        ("search", "UPSAMPLE sigsegv", ["YolosModel"]),
        ("search", "<script>", ["EvilModel", "CvtModel"]),
        ("search", "nowhere", []),
    ],
)
def test_fields_filter(opened: webdriver.Chrome, field: str, value: str, rows: list[str]) -> None:
    opened.find_element(By.ID, field).send_keys(value)
    assert shown(opened) == rows
    assert opened.find_element(By.ID, "nothing").is_displayed() is not bool(rows)


def test_a_case_that_does_not_fit_stays_beside_one_that_does_and_fades(
    opened: webdriver.Chrome,
) -> None:
    opened.find_element(By.ID, "variant").send_keys("dynamic")
    cells = opened.find_elements(By.CSS_SELECTOR, "#cases td a.passed")
    assert ["away" in cell.get_attribute("class") for cell in cells] == [False, True]


def test_only_what_changed_can_be_shown(opened: webdriver.Chrome) -> None:
    opened.find_element(By.ID, "changed").click()
    assert shown(opened) == ["EvilModel", "CvtModel"]


def test_outcomes_are_told_apart_without_colour(opened: webdriver.Chrome) -> None:
    marks = {cell.text[:1] for cell in opened.find_elements(By.CSS_SELECTOR, "#cases td a")}
    assert marks == {"✓", "†", "✗", "–"}


def test_a_phone_shows_all_within_its_width(opened: webdriver.Chrome) -> None:
    phone = {"width": 390, "height": 844, "deviceScaleFactor": 2, "mobile": True}
    opened.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", phone)
    try:
        open_case(opened, "failed")
        widths = opened.execute_script(
            "return [innerWidth, document.documentElement.scrollWidth,"
            " document.getElementById('details').getBoundingClientRect().width]"
        )
    finally:
        opened.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    assert widths == [390, 390, 390]


def test_a_picture_of_it_is_no_blank(opened: webdriver.Chrome, tmp_path: Path) -> None:
    opened.save_screenshot(str(tmp_path / "page.png"))
    keep = os.environ.get("REPORT_SCREENSHOT")
    if keep:
        shutil.copy(tmp_path / "page.png", keep)
    # A white screen of this size takes some 5 kB.
    assert (tmp_path / "page.png").stat().st_size > 20_000
