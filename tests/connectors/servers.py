"""Real servers on loopback, each on a port of its own and in a folder of its own, under an unprivileged user where we are root."""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import boto3
import psycopg
import pytest
from botocore.config import Config

OWNER_PASSWORD = "owner-Pa55-marker"


def free_port() -> int:
    """A port that nobody listens on at this moment."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@dataclass
class Server:
    """A started server process."""

    command: Sequence[str]
    port: int
    folder: Path
    user: str | None = None
    environment: dict[str, str] = field(default_factory=dict)
    host: str = "127.0.0.1"
    _process: subprocess.Popen[bytes] | None = None

    def start(self, answers: Callable[[], object], within_s: float = 60) -> None:
        """Start it and wait until ``answers`` does not raise."""
        log = (self.folder.parent / f"{self.folder.name}.log").open("ab")
        self._process = subprocess.Popen(
            self.command, stdout=log, stderr=log, stdin=subprocess.DEVNULL, cwd=self.folder, start_new_session=True,
            env=os.environ | self.environment, **_as(self.user),
        )
        end = time.monotonic() + within_s
        while True:
            try:
                answers()
                return
            except Exception:
                if self._process.poll() is not None or time.monotonic() > end:
                    log.flush()
                    raise
                time.sleep(0.1)

    def kill(self) -> None:
        """End it and its children at once, as a power cut would."""
        if self._process is not None and self._process.poll() is None:
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait(10)

    def close(self) -> None:
        """Kill it and remove its folder."""
        self.kill()
        shutil.rmtree(self.folder, ignore_errors=True)


def _as(user: str | None) -> dict[str, object]:
    return {"user": user, "group": pwd.getpwnam(user).pw_gid, "extra_groups": []} if user is not None else {}


def _folder(name: str, user: str | None) -> Path:
    """A folder outside of pytest's own, which other users may not enter."""
    path = Path(tempfile.mkdtemp(prefix=f"lexsi-{name}-"))
    if user is not None:
        account = pwd.getpwnam(user)
        os.chown(path, account.pw_uid, account.pw_gid)
    return path


def _program(*places: str) -> str:
    for place in places:
        found = sorted(Path("/").glob(place.lstrip("/")))
        if found:
            return str(found[-1])
    pytest.fail(f"{places[0]} is not installed; scripts/need_databases.sh installs it")


def _unprivileged(user: str) -> str | None:
    return user if os.geteuid() == 0 else None


def start_postgres() -> Server:
    """A PostgreSQL with a superuser ``owner``, which asks everyone for a password."""
    user = _unprivileged("postgres")
    folder = _folder("postgres", user)
    secret = folder / "pw"
    secret.write_text(OWNER_PASSWORD)
    secret.chmod(0o644)
    subprocess.run(
        [_program("/usr/lib/postgresql/*/bin/initdb"), "-D", str(folder / "data"), "-U", "owner", "--pwfile", str(secret),
         "--auth=scram-sha-256", "-E", "UTF8", "--no-locale", "--no-sync"],
        check=True, stdout=subprocess.DEVNULL, cwd=folder, **_as(user),
    )
    port = free_port()
    settings = ["fsync=off", "listen_addresses=127.0.0.1", f"unix_socket_directories={folder}", "max_connections=40",
                "shared_buffers=32MB", "full_page_writes=off", "log_statement=all"]
    command = [_program("/usr/lib/postgresql/*/bin/postgres"), "-D", str(folder / "data"), "-p", str(port)]
    server = Server([*command, *(part for each in settings for part in ("-c", each))], port, folder, user)
    server.start(lambda: postgres_owner(server).close())
    return server


def postgres_owner(server: Server, database: str = "postgres") -> psycopg.Connection:
    """A connection of the superuser."""
    return psycopg.connect(
        host=server.host, port=server.port, user="owner", password=OWNER_PASSWORD, dbname=database, autocommit=True,
        connect_timeout=5,
    )


def start_mariadb() -> Server:
    """A MariaDB whose ``root`` may come in over the socket only."""
    user = _unprivileged("mysql")
    folder = _folder("mariadb", user)
    subprocess.run(
        [_program("/usr/bin/mariadb-install-db"), "--no-defaults", f"--datadir={folder / 'data'}", "--skip-test-db",
         "--auth-root-authentication-method=normal", *([f"--user={user}"] if user else [])],
        check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=folder, **_as(user),
    )
    port = free_port()
    command = [_program("/usr/sbin/mariadbd"), "--no-defaults", f"--datadir={folder / 'data'}", f"--port={port}",
               "--bind-address=127.0.0.1", f"--socket={folder / 'sock'}", f"--pid-file={folder / 'pid'}",
               "--innodb-flush-log-at-trx-commit=0", "--innodb-buffer-pool-size=32M", "--skip-log-bin",
               "--skip-name-resolve"]
    server = Server(command, port, folder, user)
    server.start(lambda: mariadb_owner(server, "SELECT 1"))
    return server


def mariadb_owner(server: Server, sql: str) -> None:
    """Run statements as ``root``, over the socket."""
    subprocess.run(
        [_program("/usr/bin/mariadb"), "--no-defaults", f"--socket={server.folder / 'sock'}", "-u", "root",
         "--default-character-set=utf8mb4"],
        input=sql.encode(), check=True, capture_output=True, timeout=120,
    )


def start_moto() -> Server:
    """Moto's S3 over HTTP; it lets everybody in."""
    port, folder = free_port(), _folder("moto", None)
    server = Server([sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)], port, folder)
    server.start(lambda: s3_client(server, "any", "any").list_buckets())
    return server


S3_KEY, S3_SECRET = "S3-KEY-ID-marker", "s3-Secret+/marker=with-signs"


def start_nanio() -> Server:
    """A second S3 server, by other people; it checks signatures."""
    port, folder = free_port(), _folder("nanio", None)
    server = Server(
        [str(Path(sys.executable).parent / "nanio"), "serve", "--host", "127.0.0.1", "--port", str(port), "--data-dir",
         str(folder)],
        port, folder, environment={"NANIO_ACCESS_KEY": S3_KEY, "NANIO_SECRET_KEY": S3_SECRET},
    )
    server.start(lambda: s3_client(server, S3_KEY, S3_SECRET).list_buckets())
    return server


def s3_client(server: Server, key: str, secret: str) -> object:
    """Amazon's own client, to fill the servers with."""
    return boto3.client(
        "s3", endpoint_url=f"http://{server.host}:{server.port}", aws_access_key_id=key, aws_secret_access_key=secret,
        region_name="us-east-1",
        config=Config(s3={"addressing_style": "path"}, retries={"max_attempts": 1}, connect_timeout=2, read_timeout=20),
    )
