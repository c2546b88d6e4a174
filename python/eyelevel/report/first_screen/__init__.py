"""What a page shows before anything is opened: the answer, and what it rests on."""
