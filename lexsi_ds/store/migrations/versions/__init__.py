"""One file a migration, in order. A migration that has shipped is never edited."""
