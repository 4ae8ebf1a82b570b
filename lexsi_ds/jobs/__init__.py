"""Jobs: warm killable worker processes and the runs that use them."""
