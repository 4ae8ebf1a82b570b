#!/bin/sh
# What the image installs: the app's requirements and the driver of the store on PostgreSQL. PYTHON names another interpreter.
set -eu
cd "$(dirname "$0")/.."
"${PYTHON:-python3}" -m pip install --quiet --no-cache-dir -r requirements.txt "psycopg[binary]>=3.3,<4"
