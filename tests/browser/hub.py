"""A JupyterHub on loopback: started, logged in to, typed to in its terminals, and ended with all that it started."""

import contextlib
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

from playwright.sync_api import TimeoutError as NotInTime

ROOT = Path(__file__).resolve().parents[2]
SECONDS_TO_START = 60
# The hub as it is, on free ports, and with servers whose JupyterLab can be driven.
CONFIG = """
load_subconfig({file!r})
c = get_config()
c.JupyterHub.bind_url = "http://127.0.0.1:{}"
c.JupyterHub.hub_bind_url = "http://127.0.0.1:{}"
c.ConfigurableHTTPProxy.api_url = "http://127.0.0.1:{}"
c.Spawner.args.append("--LabApp.expose_app_in_browser=True")
"""
# A terminal of JupyterLab's own, which gets a line as if somebody had typed it.
TYPE_IN_TERMINAL = """async (line) => {
    const {content} = await jupyterapp.commands.execute('terminal:create-new');
    await content.session.ready;
    content.session.send({type: 'stdin', content: [line + '\\r']});
}"""
IS_THERE = "() => window.jupyterapp && jupyterapp.restored.then(() => true)"


class Hub:
    """A hub that runs in a folder, where it has the homes of its accounts."""

    def __init__(self, folder, address):
        self.folder, self.address = folder, address

    def home(self, name):
        return self.folder / "homes" / name

    def log_in(self, browser, names):
        """By name, a page with the account's JupyterLab. Their servers start meanwhile, all at once."""
        pages = {name: browser.new_context(viewport={"width": 1400, "height": 1000}).new_page() for name in names}
        for name, page in pages.items():
            page.set_default_timeout(120_000)
            page.goto(f"{self.address}/hub/login")
            page.get_by_label("Username").fill(name)
            page.get_by_role("button", name="Sign in").click()
        for name, page in pages.items():
            try:
                page.wait_for_url(f"{self.address}/user/{name}/lab/tree/**")
            except NotInTime:  # one retry: a server that was given up is started anew
                page.goto(f"{self.address}/hub/spawn/{name}")
                page.wait_for_url(f"{self.address}/user/{name}/lab/tree/**")
            page.wait_for_function(IS_THERE)
        return pages

    def type_in_terminal(self, page, name, line, seconds=120):
        """What a line says that is typed in the account's terminal, and its exit code."""
        said, code = self.home(name) / "said", self.home(name) / "code"
        code.unlink(missing_ok=True)
        page.evaluate(TYPE_IN_TERMINAL, f"clear; {line} > ~/said 2>&1; echo $? > ~/made && mv ~/made ~/code")
        deadline = time.monotonic() + seconds
        while not code.exists():
            assert time.monotonic() < deadline, f"{line}: not done after {seconds} s\n" + said.read_text()
            time.sleep(0.1)
        return said.read_text(), int(code.read_text())


def free_ports(count):
    with contextlib.ExitStack() as held:
        sockets = [held.enter_context(socket.socket()) for _ in range(count)]
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in sockets]


@contextlib.contextmanager
def running(folder):
    """A Hub in this folder; at the end nothing of it runs."""
    ports, exchange = free_ports(3), str(folder / "exchange")
    file = str(ROOT / "tools" / "hub" / "jupyterhub_config.py")
    (folder / "config.py").write_text(CONFIG.format(*ports, file=file))
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "MINIGRAD_"))}
    with (folder / "hub.log").open("wb") as log:
        hub = subprocess.Popen(
            [sys.executable, "-m", "jupyterhub", "-f", str(folder / "config.py")],
            cwd=folder,
            env={**inherited, "MINIGRAD_EXCHANGE": exchange, "PATH": path},
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
        )
        try:
            address = f"http://127.0.0.1:{ports[0]}"
            wait_until_it_answers(hub, address, folder / "hub.log")
            yield Hub(folder, address)
        finally:
            hub.terminate()  # it ends its servers and its proxy first
            with contextlib.suppress(subprocess.TimeoutExpired):
                hub.wait(timeout=30)
            end_all_with(f"MINIGRAD_EXCHANGE={exchange}")


def wait_until_it_answers(hub, address, log):
    local = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    deadline = time.monotonic() + SECONDS_TO_START
    while time.monotonic() < deadline and hub.poll() is None:
        with contextlib.suppress(OSError), local.open(f"{address}/hub/health", timeout=5):
            return
        time.sleep(0.1)
    raise RuntimeError("JupyterHub did not start:\n" + log.read_text(errors="replace")[-3000:])


def end_all_with(variable):
    """Kill what runs with this variable: the servers of a hub are in sessions of their own, and may outlive it."""
    for place in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):  # ended meanwhile, or somebody else's
            if variable.encode() in (place / "environ").read_bytes().split(b"\0"):
                os.kill(int(place.name), signal.SIGKILL)
