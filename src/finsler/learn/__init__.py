"""Learning Randers embeddings of digraphs with PyTorch: fit a digraph, predict its links (``pip install 'finsler[learn]'``).

`LinkPredictor` completes a digraph, `DigraphEmbedding` maps one. Splits, scores and baselines of link prediction need no
PyTorch. What is not listed here is internal.
"""

from finsler._lazy import exports

__all__, __getattr__, __dir__ = exports(
    __name__,
    {
        "links": ["LinkPredictor"],
        "options": ["LinkOptions"],
        "digraph": ["DigraphEmbedding"],
        "tasks": ["split_links", "score_links", "LinkSplit", "LinkTasks", "PairTask"],
        "baselines": ["run_baselines", "baseline_logits"],
    },
)
