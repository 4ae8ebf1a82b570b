#!/bin/sh
# Starts the app on ADDRESS and PORT, as the image does. It takes the process over, so that a signal reaches the app.
set -eu
cd "$(dirname "$0")/.."
exec "${PYTHON:-python3}" -m streamlit run web.py --server.address "${ADDRESS:-127.0.0.1}" --server.port "${PORT:-8501}"
