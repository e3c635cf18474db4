"""DOT into a picture: the system's `dot`, else pygraphviz, which brings Graphviz, else nothing.

The environment variable MINIGRAD_VIZ (dot, pygraphviz or text) forces one of them.
"""

import contextlib
import os
import re
import shutil
import subprocess
import warnings

SETTING = "MINIGRAD_VIZ"
TIMEOUT = 20  # seconds
MAX_WIDTH = 700  # pixels
PIXELS_PER_POINT = 4 / 3
HELP = "To see pictures, run `pip install pygraphviz`, or install Graphviz from graphviz.org, and run the cell again."


class NoPicture(Exception):
    """An engine is not there or failed. The text says which and why, in one sentence."""


def _dot(source: str, format: str) -> bytes:
    program = shutil.which("dot")
    if program is None:
        raise NoPicture("there is no program `dot` on this machine")
    command = [program, f"-T{format}"] + (["-Gdpi=192"] if format == "png" else [])
    flags = getattr(subprocess, "CREATE_NO_WINDOW", 0)  # on Windows a console would flash
    try:
        done = subprocess.run(
            command,
            input=source.encode(),
            capture_output=True,
            timeout=TIMEOUT,
            creationflags=flags,
        )
    except (OSError, subprocess.SubprocessError) as error:
        raise NoPicture(f"`dot` failed ({type(error).__name__})") from error
    if done.returncode or not done.stdout:
        raise NoPicture(f"`dot` failed (exit status {done.returncode})")
    return done.stdout


def _pygraphviz(source: str, format: str) -> bytes:
    # Graphviz 14.1 crashes, and the kernel with it, on a label whose first line is empty.
    source = source.replace('label="\n', 'label=" \n')
    try:
        import pygraphviz
    except ImportError as error:
        raise NoPicture("pygraphviz is not installed") from error
    try:
        with _without_stderr(), warnings.catch_warnings(), pygraphviz.AGraph(string=source) as graph:
            warnings.simplefilter("ignore")
            if format == "png":
                graph.graph_attr["dpi"] = "192"
            return graph.draw(format=format, prog="dot")
    except (OSError, ValueError, RuntimeError) as error:
        raise NoPicture(f"pygraphviz failed ({type(error).__name__})") from error


@contextlib.contextmanager
def _without_stderr():
    """Discard the warnings of C libraries (Fontconfig's), which write to file descriptor 2."""
    try:
        kept = os.dup(2)
    except OSError:  # there is no standard error
        yield
        return
    nowhere = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, 2)
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(nowhere)


ENGINES = {"dot": _dot, "pygraphviz": _pygraphviz}


def render(source: str, format: str = "svg") -> bytes:
    """The picture as bytes, from the first engine that works. Raises NoPicture if none does."""
    forced = os.environ.get(SETTING, "").strip().lower()
    if forced and forced not in (*ENGINES, "text"):
        raise NoPicture(f"{SETTING} is {forced!r}; it can be dot, pygraphviz or text")
    if forced == "text":
        raise NoPicture(f"{SETTING}=text asks for no pictures")
    reasons = []
    for name, engine in ENGINES.items():
        if forced in ("", name):
            try:
                return engine(source, format)
            except NoPicture as reason:
                reasons.append(str(reason))
    raise NoPicture("; ".join(reasons))


def engine() -> str:
    """The engine that draws on this machine: "dot", "pygraphviz", or "text" if there is none."""
    forced = os.environ.get(SETTING, "").strip().lower()
    for name, draw in ENGINES.items():
        if forced in ("", name):
            with contextlib.suppress(NoPicture):
                draw('digraph { n0 [label="x"] }', "svg")
                return name
    return "text"


def normalised(svg: bytes, width: int | None = None) -> str:
    """The same drawing without version, comments and ids, sized in pixels, with its text centred.

    Graphviz places the lines of a formatted label from the left, at widths measured in its own font. The browser's
    font may be wider: so each line is centred on its node.
    """
    text = svg.decode("utf-8")
    text = text[text.index("<svg") :]
    text = re.sub(r"<!--.*?-->\s*|<title>.*?</title>\s*", "", text, flags=re.DOTALL)
    text = re.sub(r'(<g) id="[^"]*"', r"\1", text)
    text = re.sub(r'<g class="node">.*?</g>', _centred, text, flags=re.DOTALL)
    text = text.replace('stroke-dasharray="5,2"', 'stroke-dasharray="4,2.5"')  # short edges show dashes
    size = re.search(r'width="([\d.]+)pt" height="([\d.]+)pt"', text)
    if size is None:
        return text
    across, down = (float(number) * PIXELS_PER_POINT for number in size.groups())
    shrink = min(1.0, (width or MAX_WIDTH) / across)
    pixels = f'width="{round(across * shrink)}" height="{round(down * shrink)}"'
    return text.replace(size.group(), pixels, 1)


def _centred(match: re.Match) -> str:
    node = match.group()
    ellipse = re.search(r'cx="([-\d.]+)"', node)
    points = re.findall(r"(-?[\d.]+),-?[\d.]+", (re.search(r'points="([^"]*)"', node) or [""])[0])
    across = [float(ellipse.group(1))] if ellipse else [float(x) for x in points]
    if not across:
        return node
    middle = f'text-anchor="middle" x="{(min(across) + max(across)) / 2:.2f}"'
    return re.sub(r'text-anchor="start" x="[^"]*"', middle, node)
