"""Set up this environment for a hub or an image, after pip: `python -m tools.hub`, in the folder of the course.

JupyterLab gets the settings, the kernel and the style of the course, and Jupyter and nbgrader find their configuration.
"""

import shutil
import sys
from pathlib import Path

from jupyter_server import DEFAULT_STATIC_FILES_PATH

from tools.environment import Environment
from tools.lab import STYLE

HERE = Path(__file__).parent
CONFIGURED = ("jupyter_server_config.py", "nbgrader_config.py")

if __name__ == "__main__":
    environment = Environment(sys.prefix)
    environment.set_up_jupyter()
    shutil.copytree(STYLE, Path(DEFAULT_STATIC_FILES_PATH, "custom"), dirs_exist_ok=True)
    places = environment.folder / "etc" / "jupyter"
    places.mkdir(parents=True, exist_ok=True)
    for name in CONFIGURED:
        (places / name).unlink(missing_ok=True)
        (places / name).symlink_to(HERE / name)
