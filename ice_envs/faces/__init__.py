"""The faces: the same games as PettingZoo, Gymnasium and Stable-Baselines3 know environments. No face holds a rule."""
