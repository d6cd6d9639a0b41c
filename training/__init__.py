"""Training, evaluation and export: each module runs as `python -m training.<name>`."""
