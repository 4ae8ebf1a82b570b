"""Models: engines behind one protocol, features, validation, cards."""
