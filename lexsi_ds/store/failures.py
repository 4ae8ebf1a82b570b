"""What is said when the store itself cannot work: full disk, read-only folder, held by another process, server gone.

Must never: repeat the driver's own text, which may hold statements with values, or the address with its password.
"""

from __future__ import annotations

import sqlalchemy as sa
from sqlalchemy import exc

from lexsi_ds.errors import BadInput, StoreFailed

_RETRY = "Nothing was changed; try again when that is mended."
_TOLD = (
    # what the driver says, what happened, what to do
    (("database is locked", "database table is locked", "lock timeout"), "Another process holds the store.",
     "Nothing was changed. Try again in a moment; if it lasts, look for a backup or a tool that has the store open."),
    (("disk is full", "no space left", "could not extend file", "disk full"), "The disk that holds the store is full.",
     f"Free space there. {_RETRY}"),
    (("readonly database", "read-only transaction", "read-only file system"), "The store cannot be written: it is read-only.",
     f"Let this user write the folder of the store. {_RETRY}"),
    (("unable to open database file", "permission denied"), "The store's file cannot be opened.",
     f"Look whether the folder is there and this user may read and write it. {_RETRY}"),
    (("not a database", "malformed"), "The store's file is damaged.", "Put a backup in its place."),
    (("disk i/o error",), "The disk that holds the store fails or is full.", f"Free space, and look at the disk. {_RETRY}"),
    (("password authentication", "no password supplied", "does not exist"), "The store's database lets nobody in under that name.",
     "Check the name, database and password in LEXSI_DS_STORE_URL."),
)  # fmt: skip
FAILURES = (exc.DatabaseError, exc.InterfaceError, exc.TimeoutError)
"""Errors that may speak of the store's condition."""
OF_A_STATEMENT = (exc.IntegrityError, exc.ProgrammingError, exc.DataError, exc.NotSupportedError)
"""Those among them that speak of a statement, and stay what they are."""


def failed(error: exc.SQLAlchemyError, url: sa.URL) -> StoreFailed:
    """What to tell of such an error."""
    place = where(url)
    said = str(getattr(error, "orig", None) or error).casefold()
    if isinstance(error, exc.TimeoutError):
        return StoreFailed("Too many requests wait for the store.", where=place, to_do="Try again in a moment.")
    for marks, what, to_do in _TOLD:
        if any(mark in said for mark in marks):
            return StoreFailed(what, where=place, to_do=to_do)
    if url.get_backend_name() == "sqlite":
        return StoreFailed("The store's file does not work.", where=place, to_do=f"The log has the details. {_RETRY}")
    return StoreFailed("The store's database does not answer.", where=place,
                       to_do="Look whether it runs and is reached; nothing was lost, and work goes on as soon as it answers.")


def where(url: sa.URL) -> str:
    """The place of a store in words, without who and password."""
    if url.get_backend_name() == "sqlite":
        return url.database or "store"
    port = f":{url.port}" if url.port else ""
    return f"{url.get_backend_name()} {url.host or 'localhost'}{port}/{url.database or ''}"


def engine_of(url: sa.URL, **options: object) -> sa.Engine:
    """An engine; BadInput when the address names no database that can be used here."""
    try:
        return sa.create_engine(url, hide_parameters=True, **options)  # a logged error must hold no values
    except ModuleNotFoundError as error:
        raise BadInput(f"The store needs the Python package {error.name}.", where="LEXSI_DS_STORE_URL",
                       to_do='Install it: pip install "psycopg[binary]" for PostgreSQL.') from error
    except exc.ArgumentError as error:
        raise BadInput("The store is kept in SQLite or PostgreSQL.", where="LEXSI_DS_STORE_URL",
                       to_do="Give postgresql://user:password@host/database, or leave it unset.") from error
