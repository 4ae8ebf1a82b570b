"""Services: the only way to change or read what is someone's. Every call takes an Actor and checks it."""
