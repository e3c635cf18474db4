"""A hub to try out, on this machine alone: any name, no password, and one system account for all.

    jupyterhub -f tools/hub/jupyterhub_config.py

Homes, nbgrader's exchange and the hub's own files are made in the folder where it is started.
"""

import os
from pathlib import Path

c = get_config()  # type: ignore[name-defined] # noqa: F821
here = Path.cwd()
exchange = Path(os.environ.setdefault("MINIGRAD_EXCHANGE", str(here / "exchange")))
exchange.mkdir(exist_ok=True)
exchange.chmod(0o777)  # nbgrader keeps what is inside apart
c.JupyterHub.bind_url = "http://127.0.0.1:8000"
# A class logs in within a minute, and each server waits for the others: by default one is given up after 30 seconds.
c.Spawner.start_timeout = c.Spawner.http_timeout = 180
c.Spawner.environment = {"MINIGRAD_EXCHANGE": str(exchange)}
# These three are what a real hub has otherwise: who may come, where servers run, and where homes are.
c.JupyterHub.authenticator_class = "dummy"
c.JupyterHub.spawner_class = "simple"
c.SimpleLocalProcessSpawner.home_dir_template = str(here / "homes" / "{username}")
if os.geteuid() == 0:
    c.Spawner.args = ["--allow-root"]
