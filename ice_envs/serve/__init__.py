"""Agents over HTTP: `python -m ice_envs.serve --agents checkpoints/`. Needs the extra `serve`."""
