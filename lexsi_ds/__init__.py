"""Lexsi DS core: pure Python, no Streamlit. The app, the command line and the servers are doors to it."""

__version__ = "0.1.0"
