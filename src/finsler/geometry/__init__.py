"""Pure functions on arrays: Randers distances, stress, asymmetry."""
