"""Maps whose drift turns, ``omega(x) = w + K x``: the field, the stress, the solver, and whether it is worth it."""
