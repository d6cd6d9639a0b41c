"""What the games share: the contract, compilation, chance, the observation layout and batch stepping."""
