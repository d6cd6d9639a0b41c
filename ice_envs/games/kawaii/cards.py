"""The cards of Kawaii.

A card is known by its kind: `flavor * 5 + shape` for an ice cream, then closed shop and cherry.
"""

from __future__ import annotations

import numpy as np

FLAVORS = ("strawberry", "chocolate", "vanilla", "mint", "blueberry")
SHAPES = ("cone", "cup", "popsicle", "sundae", "sandwich")
NUM_FLAVORS = 5
NUM_SHAPES = 5
NUM_ICES = NUM_FLAVORS * NUM_SHAPES
SHOP = NUM_ICES
CHERRY = NUM_ICES + 1
NUM_KINDS = NUM_ICES + 2
NUM_SHOPS = 3
NUM_CHERRIES = 2
ICE_COPIES = 2

COPIES = np.array([ICE_COPIES] * NUM_ICES + [NUM_SHOPS, NUM_CHERRIES], np.int8)
"""How many cards of each kind there are."""
DECK = np.repeat(np.arange(NUM_KINDS, dtype=np.int8), COPIES)
"""All cards in order of their kinds."""
NUM_CARDS = len(DECK)

NAMES = (*(f"{flavor} {shape}" for flavor in FLAVORS for shape in SHAPES), "closed shop", "cherry")
"""The name of each kind."""
