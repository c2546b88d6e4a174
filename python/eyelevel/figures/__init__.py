"""Tables in, chart specifications out; pure."""
