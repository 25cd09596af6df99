"""How much memory is left: limits of the machine, of control groups and of the address space."""

import pytest

from finsler import _memory as memory


def test_memory_is_refused_in_words(monkeypatch):
    monkeypatch.setattr(memory, "available_memory", lambda: 20_000_000)
    memory.require_memory(10_000_000, "This", "Do that.")
    memory.require_memory(20_000_000, "This", "Do that.")
    with pytest.raises(MemoryError, match=r"This needs about 30 MB and 20 MB is available. Do that."):
        memory.require_memory(30_000_000, "This", "Do that.")
    monkeypatch.setattr(memory, "available_memory", lambda: None)
    memory.require_memory(1e30, "This", "Do that.")


@pytest.fixture
def machine(tmp_path, monkeypatch):
    """Make a machine with 8 GB free from files: ``machine({"sys/fs/cgroup/memory.max": "100"})``."""
    monkeypatch.setattr("resource.getrlimit", lambda _: (-1, -1))

    def make(files):
        for name, text in {
            "proc/meminfo": "MemTotal: 9000000 kB\nMemAvailable: 8000000 kB\n",
            **files,
        }.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return tmp_path

    return make


def test_free_memory_counts_where_there_are_no_limits(machine):
    assert memory.available_memory(machine({})) == 8_000_000 * 1024
    unlimited = {
        "proc/self/cgroup": "0::/\n1:memory:/\n",
        "sys/fs/cgroup/memory.max": "max\n",
        "sys/fs/cgroup/memory.current": "5\n",
        "sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n",
        "sys/fs/cgroup/memory/memory.usage_in_bytes": "5\n",
    }
    assert memory.available_memory(machine(unlimited)) == 8_000_000 * 1024


def test_a_container_leaves_what_its_control_group_leaves(machine):
    """Version 2: the group's own limit, or that of a group around it; cached files count as free."""
    inner = {
        "proc/self/cgroup": "0::/job/step\n",
        "sys/fs/cgroup/job/memory.max": "900\n",
        "sys/fs/cgroup/job/memory.current": "500\n",
        "sys/fs/cgroup/job/step/memory.max": "max\n",
        "sys/fs/cgroup/job/step/memory.current": "100\n",
    }
    assert memory.available_memory(machine(inner)) == 400
    cached = {"sys/fs/cgroup/job/memory.stat": "anon 300\ninactive_file 150\n"}
    assert memory.available_memory(machine(cached)) == 550


def test_control_groups_of_version_1(machine):
    files = {
        "proc/self/cgroup": "5:cpu,cpuacct:/x\n4:memory:/docker/abc\n",  # a path outside of what the container sees
        "sys/fs/cgroup/memory/memory.limit_in_bytes": "1000\n",
        "sys/fs/cgroup/memory/memory.usage_in_bytes": "700\n",
        "sys/fs/cgroup/memory/memory.stat": "inactive_file 5\ntotal_inactive_file 50\n",
    }
    assert memory.available_memory(machine(files)) == 350


def test_the_limit_of_the_address_space_counts(machine, monkeypatch):
    root = machine({"proc/self/status": "VmPeak: 9 kB\nVmSize: 2 kB\n"})
    monkeypatch.setattr("resource.getrlimit", lambda _: (5000, 5000))
    monkeypatch.setattr(memory, "_buffers_taken", True)
    assert memory.available_memory(root) == 5000 - 2048
    monkeypatch.setattr(memory, "_buffers_taken", False)  # which would take what is left
    assert memory.available_memory(root) == 0


def test_available_memory_is_plausible():
    available = memory.available_memory()
    assert available is None or 10_000_000 < available < 10**14
