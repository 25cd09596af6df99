"""The paper's experiments, each by one command: ``finsler reproduce NAME``."""
