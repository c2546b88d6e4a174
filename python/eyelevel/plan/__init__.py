"""Parse a plan and expand it to ordered, seeded, hashed trials; no file and no clock in here."""
