"""Training, evaluation and export: each module runs as `python -m training.<name>`."""

from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
"""The repository, which has configs/, docs/ and checkpoints/."""
