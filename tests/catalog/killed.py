"""A process to be killed: imports a source again, as the app and the command line do. Run with HOME_FOLDER SOURCE_ID FILE..."""

from __future__ import annotations

import sys
from pathlib import Path

from lexsi_ds.jobs.pool import Pool
from lexsi_ds.services.catalog import Catalog
from lexsi_ds.settings import Settings
from lexsi_ds.store.db import Store
from tests.catalog.conftest import ADA


def main() -> None:
    """Import once and say so."""
    settings = Settings(home=Path(sys.argv[1]), ingest_timeout_s=120)
    store = Store(settings.store_path_url)
    store.migrate()
    pool = Pool(settings)
    handle = Catalog(settings, store, pool).reimport(ADA, sys.argv[2], [Path(p) for p in sys.argv[3:]])
    print(f"snapshot {handle.snapshot_number}", flush=True)
    pool.close()


if __name__ == "__main__":
    main()
