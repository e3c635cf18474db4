"""JupyterLab in a headless Chromium: started, driven by its own commands, looked at."""

import contextlib
import json
import os
import secrets
import shutil
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

from playwright.sync_api import TimeoutError as NotInTime
from playwright.sync_api import sync_playwright

from tools import lab

ROOT = Path(__file__).resolve().parents[2]
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser"))), None)
AS_ROOT = hasattr(os, "geteuid") and os.geteuid() == 0
SECONDS_TO_START = 90
SECONDS_TO_RUN = 180

# The notebook on screen, as JupyterLab's own objects.
PANEL = "const panel = jupyterapp.shell.currentWidget; const cells = panel.content.widgets;"
IS_OPEN = """(name) => {
    const panel = window.jupyterapp?.shell?.currentWidget;
    return panel?.context?.isReady && panel.context.path === name
        && panel.content?.widgets?.length > 0 && panel.content.isAttached;
}"""
RUN_ALL = f"""async () => {{
    {PANEL}
    await panel.context.sessionContext.ready;
    await jupyterapp.commands.execute('notebook:run-all-cells');
    return cells.filter((cell) => cell.model.type === 'code' && cell.model.sharedModel.source)
        .map((cell) => cell.model.executionCount);
}}"""
TRUSTED = f"""() => {{
    {PANEL}
    return cells.filter((cell) => cell.model.type === 'code').map((cell) => cell.model.trusted);
}}"""
# The kernel says what it is, and JupyterLab writes that into the notebook if something else stands there.
UNSAVED = f"""async () => {{
    {PANEL}
    await panel.context.sessionContext.ready;
    await panel.context.sessionContext.session.kernel.info;
    await new Promise((done) => setTimeout(done, 1000));
    return panel.context.model.dirty;
}}"""
CLOSE = """async () => {
    const panel = jupyterapp.shell.currentWidget;
    await panel.context.save();
    await panel.context.sessionContext.shutdown();
    panel.dispose();
}"""
# In the page that is there: loading JupyterLab anew takes longer than a chapter.
SHOW_INSTEAD = """async ([path, shouldStart]) => {
    for (const panel of [...jupyterapp.shell.widgets('main')]) {
        await panel.context?.sessionContext.shutdown();
        panel.dispose();
    }
    await jupyterapp.commands.execute('docmanager:open', {path, kernelPreference: {shouldStart}});
}"""
IMAGES = (
    """document.querySelectorAll('.jp-Notebook .jp-OutputArea img[src^="data:image/svg+xml"]:not([alt^="A plot"])')"""
)
# Each picture of a graph: does it hold an image, and how large is it on the screen?
GRAPHS = (
    f"async () => {{ const images = [...{IMAGES}];"
    """
    for (const fold of document.querySelectorAll('.jp-Notebook .jp-OutputArea details'))
        fold.open = true;
    const sizes = [];
    const frame = () => new Promise((done) => requestAnimationFrame(done));
    const isSeen = (image) => {
        const box = image.getBoundingClientRect();
        return document.elementsFromPoint(
            box.x + Math.min(box.width, innerWidth - box.x) / 2,
            box.y + Math.min(box.height, innerHeight - box.y) / 2).includes(image);
    };
    for (const image of images) {
        await image.decode();
        // Cells that come into view get their real height only then, and push this one away.
        for (let tries = 0; tries < 60 && !isSeen(image); tries++) {
            image.scrollIntoView({block: 'center'});
            await frame();
            await frame();
        }
        sizes.push({alt: image.alt, natural: [image.naturalWidth, image.naturalHeight],
            client: [image.clientWidth, image.clientHeight], seen: isSeen(image)});
    }
    return sizes;
}"""
)
# Run All leaves the notebook at its end, and scrolls there once more a moment later.
TO_THE_TOP = f"""async () => {{
    {PANEL}
    panel.content.activeCellIndex = 0;
    await panel.content.scrollToItem(0);
}}"""
# Below the last cell JupyterLab leaves a window's height empty: there is nothing to see.
SCROLL_TO = """async (top) => {
    const view = document.querySelector('.jp-Notebook .jp-WindowedPanel-outer')
        ?? document.querySelector('.jp-WindowedPanel-outer');
    view.scrollTop = top;
    await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
    for (const image of view.querySelectorAll('img')) await image.decode();
    const last = jupyterapp.shell.currentWidget.content.widgets.at(-1).node;
    const seen = view.getBoundingClientRect().bottom;
    const isEnd = last.isConnected && last.getBoundingClientRect().bottom <= seen;
    return [view.scrollTop, view.clientHeight, isEnd || view.scrollTop + view.clientHeight >= view.scrollHeight - 1];
}"""


def private_environment(folder):
    """The environment of a learner who has never started Jupyter: nothing trusted, no settings."""
    kept = {"CONFIG": "config", "DATA": "data", "RUNTIME": "runtime"}
    variables = {f"JUPYTER_{name}_DIR": str(folder / place) for name, place in kept.items()}
    variables["JUPYTERLAB_SETTINGS_DIR"] = str(folder / "settings")
    variables["JUPYTERLAB_WORKSPACES_DIR"] = str(folder / "workspaces")
    variables["IPYTHONDIR"] = str(folder / "ipython")
    variables["MINIGRAD_PROGRESS"] = str(folder / "progress.json")
    # The kernels run as a learner's do, where a failed check is shown and does not stop Run All.
    inherited = {k: v for k, v in os.environ.items() if not k.startswith("PYTEST_")}
    return inherited | variables


@contextlib.contextmanager
def jupyterlab(course, private):
    """JupyterLab serving the folder `course`; yields its address and its token."""
    token = secrets.token_hex(16)
    typed = ["--ServerApp.port=0", "--ServerApp.port_retries=0", "--no-browser", "--expose-app-in-browser"]
    options = lab.options(course, [*typed, f"--IdentityProvider.token={token}"])
    settings = private / "settings" / "@jupyterlab" / "apputils-extension"
    settings.mkdir(parents=True)
    # As course.py has it: no question in the corner of the window.
    (settings / "notification.jupyterlab-settings").write_text('{"fetchNews": "false"}')
    with (private / "server.log").open("wb") as log:
        server = subprocess.Popen(
            [sys.executable, "-m", "jupyterlab", *options],
            env=private_environment(private),
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
        )
        try:
            yield address_when_it_answers(server, token, private), token
        finally:
            server.terminate()  # it ends its kernels first
            server.wait(timeout=30)


def address_when_it_answers(server, token, private):
    """Where JupyterLab is, which takes a free port as it starts and notes it in a file."""
    local = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    deadline = time.monotonic() + SECONDS_TO_START
    while time.monotonic() < deadline and server.poll() is None:
        with contextlib.suppress(OSError, ValueError):  # no file yet, half a file, or no answer
            (note,) = private.glob("runtime/jpserver-*.json")
            address = f"http://localhost:{json.loads(note.read_text())['port']}"
            with local.open(f"{address}/api/status?token={token}", timeout=5) as answer:
                json.load(answer)
            return address
        time.sleep(0.1)
    raise RuntimeError("JupyterLab did not start:\n" + (private / "server.log").read_text(errors="replace")[-2000:])


class Lab:
    """One browser window on one JupyterLab."""

    def __init__(self, page, address, token):
        self.page, self.address, self.token = page, address, token

    def open(self, path, kernel=True):
        """Show a notebook; try once more when the page did not load. What is only looked at needs no kernel."""
        address = f"{self.address}/lab/tree/{path}?reset&token={self.token}"
        for last in (False, True):
            try:
                if last or not self.page.evaluate("() => Boolean(window.jupyterapp)"):
                    self.page.goto(address, timeout=60_000)
                else:
                    self.page.evaluate(SHOW_INSTEAD, [str(path), kernel])
                self.page.wait_for_function(IS_OPEN, arg=str(path), timeout=60_000)
                break
            except NotInTime:
                if last:
                    raise
        self.page.evaluate("() => jupyterapp.shell.collapseLeft()")

    def run_all(self):
        """Run every cell; the execution counts of the code cells, None for one that did not run."""
        self.page.set_default_timeout(SECONDS_TO_RUN * 1000)
        return self.page.evaluate(RUN_ALL)

    def is_unsaved(self):
        """Whether JupyterLab marks the notebook as changed, once its kernel is there."""
        return self.page.evaluate(UNSAVED)

    def save(self):
        """Write the notebook with its outputs to its file."""
        self.page.evaluate("() => jupyterapp.shell.currentWidget.context.save()")

    def close_notebook(self):
        """Save it, stop its kernel, close its tab."""
        self.page.evaluate(CLOSE)

    def trusted(self):
        """For each code cell, whether JupyterLab trusts its outputs."""
        return self.page.evaluate(TRUSTED)

    def graphs(self, expected):
        """Alt text and sizes of each picture of a graph, each after scrolling to it.

        Waits for the `expected` number of them; if fewer come in time, those are returned.
        """
        with contextlib.suppress(NotInTime):
            arrived = f"(count) => {IMAGES}.length >= count"
            self.page.wait_for_function(arrived, arg=expected, timeout=20_000)
        return self.page.evaluate(GRAPHS)

    def use_theme(self, name):
        if self.page.evaluate("() => document.body.dataset.jpThemeName") == name:
            return
        self.page.evaluate("(theme) => jupyterapp.commands.execute('apputils:change-theme', {theme})", name)
        self.page.wait_for_function(
            "(light) => document.body.dataset.jpThemeLight === light",
            arg="false" if "Dark" in name else "true",
        )

    def screenshots(self, folder, name):
        """PNGs of the notebook from top to bottom, one window after the other."""
        folder.mkdir(parents=True, exist_ok=True)
        self.page.evaluate(TO_THE_TOP)
        pictures, top = [], 0
        while True:
            at, height, is_end = self.page.evaluate(SCROLL_TO, top)
            pictures.append(folder / f"{name}-{len(pictures):02}.png")
            self.page.screenshot(path=pictures[-1])
            top = at + height - 80
            if is_end:
                return pictures


@contextlib.contextmanager
def browser_on(course, private, width=1200, height=1600):
    """A Lab showing the folder `course`, with settings and trust of its own in `private`."""
    with jupyterlab(course, private) as (address, token), sync_playwright() as playwright:
        options = ["--no-sandbox"] if AS_ROOT else []
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=options)
        page = browser.new_page(viewport={"width": width, "height": height})
        try:
            yield Lab(page, address, token)
        finally:
            browser.close()


def copy_of_the_course(folder):
    """The notebooks as a fresh clone has them; what is run and saved there changes nothing here."""
    for name in ("notebooks", "exercises", "solutions", "benchmarks"):
        if (ROOT / name).is_dir():
            skip = shutil.ignore_patterns("__pycache__", ".ipynb_checkpoints", ".progress*")
            shutil.copytree(ROOT / name, folder / name, ignore=skip)
    return folder
