"""Data: sources on disk, guarded SQL, file readers, the demo bank."""
