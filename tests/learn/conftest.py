"""Small tensors are faster in one thread, the more so on a busy machine."""

import pytest


@pytest.fixture(autouse=True)
def one_torch_thread():
    try:
        import torch
    except ImportError:
        yield
        return
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)
