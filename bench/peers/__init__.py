"""Other systems that answer repeats from a cache, and what it takes to set Tidegate beside them."""
