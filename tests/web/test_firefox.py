"""Firefox shows every view without errors: driven by Marionette, its own protocol, so that no driver is needed."""

from __future__ import annotations

import json
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

START = 90.0
"""Seconds that Firefox may take to start on a busy machine."""


class Firefox:
    """A headless Firefox with one tab."""

    def __init__(self, program: str, profile: Path) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        self.downloads = profile / "downloads"
        preferences = {
            "marionette.port": port, "browser.download.folderList": 2, "browser.download.dir": str(self.downloads)
        }  # fmt: skip
        lines = [
            f"user_pref({json.dumps(name)}, {json.dumps(value)});" for name, value in preferences.items()
        ]
        (profile / "user.js").write_text("\n".join(lines), "utf-8")
        options = ["--headless", "--no-remote", "--marionette", "--remote-allow-system-access"]
        self.process = subprocess.Popen(
            [program, *options, "--profile", str(profile)],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        end = time.monotonic() + START
        while True:
            try:
                self.socket = socket.create_connection(("127.0.0.1", port))
                break
            except OSError:
                if time.monotonic() > end or self.process.poll() is not None:
                    raise
                time.sleep(0.1)
        self.stream = self.socket.makefile("rwb")
        assert self._read()["marionetteProtocol"] == 3
        self.version = self.command("NewSession", capabilities={})["capabilities"]["browserVersion"]

    def _read(self) -> Any:
        size = b""
        while (digit := self.stream.read(1)) != b":":
            size += digit
        return json.loads(self.stream.read(int(size)))

    def command(self, name: str, **arguments: Any) -> Any:
        """Send a command and return its result."""
        prefix = "" if ":" in name else "WebDriver:"
        message = json.dumps([0, 1, prefix + name, arguments]).encode()
        self.stream.write(b"%d:%b" % (len(message), message))
        self.stream.flush()
        _, _, error, result = self._read()
        assert error is None, error
        return result

    def evaluate(self, expression: str) -> Any:
        """Return the value of an expression in the page."""
        return self.command("ExecuteScript", script=f"return {expression}", args=[])["value"]

    def until(self, expression: str) -> None:
        """Wait until an expression holds in the page."""
        end = time.monotonic() + 120
        while not self.evaluate(expression):
            assert time.monotonic() < end, f"still not: {expression}"
            time.sleep(0.05)

    def click(self, selector: str) -> None:
        """Click the first element that matches a selector."""
        element = self.command("FindElement", using="css selector", value=selector)["value"]
        self.command("ElementClick", id=next(iter(element.values())))

    def errors(self, path: Path) -> list[str]:
        """Return the errors and warnings in the console that a file caused."""
        self.command("Marionette:SetContext", value="chrome")
        messages = self.evaluate(
            "Services.console.getMessageArray().map(m => [m.sourceName ?? '', m.errorMessage ?? m.message])"
        )
        self.command("Marionette:SetContext", value="content")
        return [text for source, text in messages if path.name in source or path.name in text]


@pytest.fixture(scope="module")
def firefox(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Firefox]:
    program = shutil.which("firefox-esr") or shutil.which("firefox")
    if program is None:
        pytest.skip("no Firefox in the PATH: apt-get install firefox-esr")
    browser = Firefox(program, tmp_path_factory.mktemp("profile"))
    yield browser
    browser.command("Marionette:Quit", flags=["eForceQuit"])
    browser.stream.close()
    browser.socket.close()
    browser.process.wait(120)


def test_firefox_shows_every_view_without_errors(
    firefox: Firefox, study_page: Path, aspects_page: Path
) -> None:
    firefox.command("SetWindowRect", width=1440, height=1000)
    seen = set()
    for path in (study_page, aspects_page):
        firefox.command("Navigate", url=path.resolve().as_uri())
        firefox.until("document.querySelector('main h2') !== null")
        for view in firefox.evaluate("rankscope.state.views.map(([view]) => view)"):
            firefox.evaluate(f"void (rankscope.state.view = {view!r})")
            firefox.until(f"rankscope.state.view === {view!r} && document.querySelector('main h2, main h3')")
            assert firefox.evaluate("document.documentElement.scrollWidth <= innerWidth"), view
            assert firefox.evaluate(
                "document.querySelectorAll('main svg, main canvas, main table').length > 0"
            )
            seen.add(view)
        assert firefox.errors(path) == []
    assert {"runs", "plane", "study", "coverage", "slices", "whatif"} <= seen


def test_a_path_of_clicks_in_firefox(firefox: Firefox, study_page: Path) -> None:
    firefox.command("Navigate", url=study_page.resolve().as_uri() + "#view=runs")
    firefox.until("/\\d/.test(document.querySelector('td.ranks')?.textContent)")
    run = firefox.evaluate("document.querySelectorAll('.board tbody th button')[2].title")
    firefox.click(".board tbody tr:nth-child(3) th button")
    firefox.click("nav a[href*='view=versus']")
    firefox.until("document.querySelector('.side[data-side=B] h4 .name') !== null")
    assert firefox.evaluate("document.querySelector('.side[data-side=B] h4 .name').textContent") == run
    assert firefox.evaluate("document.querySelectorAll('.side[data-side=B] li').length") == 10
    firefox.click("details.save summary")
    firefox.click("details.save button")
    firefox.until(
        "document.querySelector('details.save [role=status]').textContent === 'differences.svg saved'"
    )
    saved = firefox.downloads / "differences.svg"
    end = time.monotonic() + 120
    while not (saved.is_file() and saved.read_text("utf-8").endswith("</svg>")):
        assert time.monotonic() < end, "no file"
        time.sleep(0.05)
    assert run in saved.read_text("utf-8")
    assert firefox.errors(study_page) == []
