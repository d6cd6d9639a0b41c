"""The tests. They are a package, so that they share `tests.helpers`, and `python -m tests.playthroughs` works."""
