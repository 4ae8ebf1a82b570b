"""SQL written by a configured language model: drafts that are checked, run and compared before one of them is an answer."""
