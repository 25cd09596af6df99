"""How asymmetric are the data, and how much of that can a map show?"""
