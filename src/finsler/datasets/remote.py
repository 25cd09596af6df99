"""Real data, downloaded once: the registry of files, the paper's six digraphs, and flight times in real winds.

A new graph goes into `_FILES` and `GRAPHS`; the command line follows.

Every file is pinned: its address at a commit, its size and its SHA-256. Downloads go through pooch (which
writes to a temporary name and moves the file into place once its hash is right) into the user's cache. With
the environment variable ``FINSLER_DATA=DIR`` nothing is downloaded: the same file names are read from DIR.

Files are read as their publishers ship them, and nothing that is read may execute: the pickles inside
citeseer.zip are never opened, and numpy's own files are loaded without pickle.
"""

from __future__ import annotations

import csv
import hashlib
import os
from collections.abc import Callable
from functools import partial
from itertools import chain, zip_longest
from numbers import Integral
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias
from zipfile import ZipFile

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.interpolate import RegularGridInterpolator
from scipy.io import netcdf_file
from scipy.sparse import csr_array, load_npz
from sklearn.utils import Bunch

from finsler._arguments import check_arguments
from finsler.datasets.flights import AIRSPEED, Wind, make_flight_hours
from finsler.errors import InputError, MissingExtraError, check_choice

Folder: TypeAlias = "str | os.PathLike[str] | None"


class RemoteFile(NamedTuple):
    """A file in a GitHub repository at a commit."""

    address: str
    size: int
    sha256: str

    @property
    def url(self) -> str:
        """Address of the raw file."""
        return f"https://raw.githubusercontent.com/{self.address}"


_LINQS = "paologentleman/Graph-Attention-Networks/af71700de635b274b7e1625854a5f5207e875eb5/data"
_SNAP = "nblintao/ParaGraphL/0ec88c53fdea26b752ffbc1555c4f334e900e065/data"
_MUSAE = "benedekrozemberczki/MUSAE/5f901232957b6c9985d750aac48cda39a4b24285/input/edges"
_ARCS = "DEEP-PolyU/NetBenchmark/eb6d7273dd85dfac76e3fb19aafff707ae35fe54/data/ogbn-arxiv"
_YEARS = "mims-harvard/GNNGuard/88ab8ff58f769d33172626d45050264eb3737b11/Datasets/ogbn_arxiv/raw"
_WINDS = "pydata/xarray-data/58de68cb45bcbd1557df11a92827758495481b4e"
_OPENFLIGHTS = "jpatokal/openflights/5a0360255a5a2ff2b9f1e9cb199716da68a8a33f/data"
# fmt: off
_FILES = (  # folder, name, bytes, SHA-256
    (_LINQS, "cora.zip", 185370, "b0ba44c20c2d9464d2915976f61c23a3ed435b08eac60f23f27d548aa87ec2f0"),
    (_LINQS, "citeseer.zip", 597885, "5aefc2236dfec66016320b48aa907769a90ab35c0d8d9cdc159ef3d9b22aaaf3"),
    (_SNAP, "ca-GrQc.txt", 351748, "74f0d6e7e53833652c6270586b9bf65573c7047a453cb126c6d1fbfc66ca104e"),
    (_MUSAE, "chameleon_edges.csv", 332440, "b90d671846530ea7c0f6f6d0e3be98eb512ecd8e9741811940fe4029d991b266"),
    (_MUSAE, "squirrel_edges.csv", 2115909, "574b9d083635377c368e9431a29121773500f57edb8b4602f69544e6b5fe0da8"),
    (_ARCS, "adj_full.npz", 3119297, "920dae5bad3f63b07f5b8883493b298f026778d7358c14b955985bacbbd13771"),
    (_YEARS, "node_year.csv.gz", 73612, "fb97e19d6003deb09197f6df6b10ea1ab86ee49d98885836c3c857ab58d897f3"),
    (_WINDS, "eraint_uvz.nc", 4168980, "8f4cd0f75418a8e8f8f957c3b007f49e68a58d1bdd0e028adeeb057889f635d2"),
    (_OPENFLIGHTS, "airports.dat", 1127225, "9387cdb38df5bd664da823f8ccb69fdd9b33a1888f5b7cca09c34a3cd9ff59f9"),
)
# fmt: on
FILES = {name: RemoteFile(f"{folder}/{name}", size, sha256) for folder, name, size, sha256 in _FILES}


_YEAR_CUTS = (2014, 2016, 2018, 2019)  # first years of the classes 1 to 4
_YEAR_CLASSES = ["to 2013", "2014-2015", "2016-2017", "2018", "from 2019"]
_RETRIES = 2


def fetch_file(name: str, *, cache_dir: Folder = None) -> Path:
    """Path of a registered file (a key of ``FILES``), downloaded first if need be and checked by its SHA-256.

    ``cache_dir`` is where downloads are kept, the user's cache by default. It is not used when the environment variable
    ``FINSLER_DATA`` names a folder, in which the file is then expected. A download that fails leaves nothing behind.
    """
    check_arguments(fetch_file, locals())
    check_choice("name", name, FILES)
    folder = os.environ.get("FINSLER_DATA")
    if not folder:
        return _download(name, cache_dir)
    path, file = Path(folder) / name, FILES[name]
    if not path.is_file():
        raise FileNotFoundError(
            f"FINSLER_DATA is set to {folder!r}, but there is no file {name} in it. Put {file.url} there, or "
            "unset FINSLER_DATA to download it."
        )
    found = hashlib.sha256(path.read_bytes()).hexdigest()
    if found != file.sha256:
        raise InputError(
            f"{path} is not the registered file: its SHA-256 is {found} ({path.stat().st_size} bytes), "
            f"expected {file.sha256} ({file.size} bytes). It may be damaged; get it again from {file.url}."
        )
    return path


def fetch_graph(name: str, *, cache_dir: Folder = None) -> Bunch:
    """One of the paper's six real graphs.

    Parameters
    ----------
    name : {"cora", "citeseer", "grqc", "chameleon", "squirrel", "arxiv-year"}
        The graph.
    cache_dir : path or None, default=None
        Where downloads are kept; None is the user's cache. Not used when the environment variable ``FINSLER_DATA``
        names a folder, in which the publisher's files are then expected.

    Returns
    -------
    data : sklearn.utils.Bunch
        graph : scipy.sparse.csr_array of shape (n_nodes, n_nodes)
            1.0 for each arc, row = from (the citing paper, the linking page). Self-loops are kept.
        n_nodes, n_arcs, self_loops, reciprocal_pairs : int
            `n_arcs` counts the self-loops; `reciprocal_pairs` are pairs of nodes with arcs both ways.
        labels : ndarray of shape (n_nodes,)
            The source's own names of the nodes: integers, or strings for citeseer.
        y : ndarray of int of shape (n_nodes,) or None
            Class of each node, -1 if unknown; None for grqc, chameleon and squirrel.
        label_names : list of str or None
            Names of the classes.
        features : scipy.sparse.csr_array or None
            Words of the papers of cora and citeseer, 0 or 1.
        year : ndarray of int or None
            Years of posting of arxiv-year.
        DESCR : str
            What the data are, and from where.
    """
    check_arguments(fetch_graph, locals())
    key = str(name).lower().replace("_", "-")
    check_choice("name", key, GRAPHS)
    read, files, expected, about = GRAPHS[key]
    parts: dict[str, Any] = {"y": None, "label_names": None, "features": None, "year": None}
    parts |= read(*(fetch_file(file, cache_dir=cache_dir) for file in files))
    graph = parts["graph"]
    loops = int(np.count_nonzero(graph.diagonal()))
    counts = (graph.shape[0], graph.nnz, loops, (graph.multiply(graph.T).nnz - loops) // 2)
    if counts != expected:
        raise RuntimeError(
            f"{key} was not read as it should be: (nodes, arcs, self-loops, reciprocal pairs) are {counts}, "
            f"expected {expected}. Please report this."
        )
    nodes, arcs, loops, pairs = counts
    sources = "".join(f"Source: {FILES[file].url}\n" for file in files)
    about = (
        f"{about}\n\n{nodes} nodes, {arcs} arcs of which {loops} are self-loops, {pairs} pairs of "
        f"nodes with arcs both ways.\n{sources}"
    )
    return Bunch(**parts, n_nodes=nodes, n_arcs=arcs, self_loops=loops, reciprocal_pairs=pairs, DESCR=about)


def _download(name: str, cache_dir: Folder, downloader: Callable[..., Any] | None = None) -> Path:
    """Path of the file in the cache; pooch fetches it if it is missing or its hash is wrong."""
    file = FILES[name]
    try:
        import pooch
    except ImportError as error:
        raise MissingExtraError(
            "downloading data needs pooch: pip install 'finsler[data]'. Or set FINSLER_DATA to a folder that "
            f"holds {name}, from {file.url}."
        ) from error
    cache = pooch.create(
        path=pooch.os_cache("finsler") if cache_dir is None else cache_dir,
        base_url="",
        registry={name: f"sha256:{file.sha256}"},
        urls={name: file.url},
        retry_if_failed=_RETRIES,
    )
    try:
        return Path(cache.fetch(name, downloader=downloader))
    except ValueError as error:  # by which pooch says that the hash is another one
        raise InputError(f"{file.url} is not the registered file: {error}") from error
    except PermissionError:  # about the cache folder; pooch's message says so
        raise
    except OSError as error:  # those of requests included
        raise OSError(
            f"could not download {file.url} ({type(error).__name__}: {error}). Try again; or get it by other "
            "means, put it in a folder and set FINSLER_DATA to that folder."
        ) from error


def _read_linqs(path: Path) -> dict[str, Any]:
    """Cora, Citeseer. Rows of NAME.content: id, bits, class. Rows of NAME.cites: cited, citing."""
    stem = path.stem
    with ZipFile(path) as archive:
        content = archive.read(f"{stem}/{stem}.content").decode().splitlines()
        cites = [line.split() for line in archive.read(f"{stem}/{stem}.cites").decode().splitlines()]
    index, bits, classes = {}, [], []
    for i, line in enumerate(content):
        identifier, rest = line.split("\t", 1)
        words, kind = rest.rsplit("\t", 1)
        index[identifier] = i
        bits.append(np.frombuffer(words.encode(), dtype=np.uint8)[::2] == ord("1"))  # "0\t1\t0"
        classes.append(kind)
    for identifier in chain.from_iterable(cites):  # papers without content, by first appearance
        index.setdefault(identifier, len(index))
    class_names = list(dict.fromkeys(classes))
    at = np.nonzero(np.array(bits))
    labels = np.array(list(index))
    return {
        "graph": _adjacency([(index[citing], index[cited]) for cited, citing in cites], len(index)),
        "labels": labels.astype(np.int64) if stem == "cora" else labels,
        "y": np.array([class_names.index(kind) for kind in classes] + [-1] * (len(index) - len(content))),
        "label_names": class_names,
        "features": csr_array((np.ones(at[0].size), at), shape=(len(index), bits[0].size)),
    }


def _read_snap(path: Path) -> dict[str, Any]:
    """Gr-QC: an address, comments, then two node numbers a row. Nodes are ordered by their numbers."""
    rows = [line.split() for line in path.read_text(encoding="ascii").splitlines() if line[:1].isdigit()]
    labels, arcs = np.unique(np.array(rows, dtype=np.int64), return_inverse=True)
    return {"graph": _adjacency(arcs.reshape(-1, 2), labels.size), "labels": labels}


def _read_musae(path: Path) -> dict[str, Any]:
    """Chameleon, Squirrel: a header, then two node numbers a row, counted from 0."""
    arcs = np.loadtxt(path, dtype=np.int64, delimiter=",", skiprows=1)
    n = int(arcs.max()) + 1
    return {"graph": _adjacency(arcs, n), "labels": np.arange(n)}


def _read_arxiv(path: Path, years: Path) -> dict[str, Any]:
    """Arxiv-Year: a scipy CSR matrix (which load_npz reads without pickle), and one year a row."""
    loaded: Any = load_npz(path)
    graph = csr_array(loaded, dtype=np.float64)
    year = np.loadtxt(years, dtype=np.int64)
    if year.shape != graph.shape[:1]:
        raise RuntimeError(f"{years} has {year.size} years for the {graph.shape[0]} nodes of {path}.")
    y = np.searchsorted(_YEAR_CUTS, year, side="right")
    names = [*_YEAR_CLASSES]
    return {"graph": graph, "labels": np.arange(y.size), "y": y, "label_names": names, "year": year}


def _adjacency(arcs: Any, n: int) -> Any:
    """Ones at the arcs. A repeated arc is stored once, and the count of arcs tells."""
    source, target = np.asarray(arcs, dtype=np.int32).T
    graph = csr_array((np.ones(source.size), (source, target)), shape=(n, n))
    graph.data[:] = 1.0
    return graph


class GraphFacts(NamedTuple):
    """How a graph is read, what it must have then (nodes, arcs, self-loops, reciprocal pairs), and what it is."""

    read: Callable[..., dict[str, Any]]
    files: tuple[str, ...]
    counts: tuple[int, int, int, int]
    about: str


_CITES = "arcs from the citing to the cited paper."
_LINKS = "arcs from the linking to the linked page (undocumented by the source, but the degrees support it)."
# fmt: off
GRAPHS = {
    "cora": GraphFacts(_read_linqs, ("cora.zip",), (2708, 5429, 0, 151), f"Cora citations (LINQS): {_CITES}"),
    "citeseer": GraphFacts(
        _read_linqs, ("citeseer.zip",), (3327, 4732, 124, 56),
        f"Citeseer citations (LINQS): {_CITES}\n15 papers, the last, have no record: y is -1, no features."),
    "grqc": GraphFacts(
        _read_snap, ("ca-GrQc.txt",), (5242, 28980, 12, 14484),
        "Co-authors in general relativity (SNAP ca-GrQc). No directions: every pair is stored both ways."),
    "chameleon": GraphFacts(
        _read_musae, ("chameleon_edges.csv",), (2277, 36101, 50, 4680), f"Wikipedia on chameleons (MUSAE): {_LINKS}"),
    "squirrel": GraphFacts(
        _read_musae, ("squirrel_edges.csv",), (5201, 217073, 140, 18580), f"Wikipedia on squirrels (MUSAE): {_LINKS}"),
    "arxiv-year": GraphFacts(
        _read_arxiv, ("adj_full.npz", "node_year.csv.gz"), (169343, 1166243, 0, 8444),
        f"Papers on arXiv (ogbn-arxiv, ODC-BY 1.0): {_CITES}\ny is the year of posting in five classes."),
}
# fmt: on


# Flight times between real airports in real winds, downloaded once (see `finsler.datasets.remote`).

# Large airports by continent, roughly from the busiest down.
_AIRPORTS = {
    "north-america": "ATL LAX ORD DFW DEN JFK SFO SEA YYZ MEX MIA LAS MCO EWR CLT PHX IAH BOS MSP FLL DTW "
    "PHL LGA BWI SLC SAN IAD TPA MDW PDX DAL STL HOU BNA AUS OAK MSY RDU SJC SNA MCI SMF IND CLE PIT SAT CMH "
    "ANC YVR YUL YYC YEG YOW YWG YHZ CUN GDL MTY TIJ PTY HAV SJU",
    "south-america": "GRU BOG EZE LIM SCL GIG BSB UIO CCS MVD VVI REC",
    "europe": "LHR CDG AMS FRA IST MAD BCN MUC FCO LGW DME ZRH CPH OSL ARN VIE LIS DUB BRU HEL ATH WAW PRG "
    "BUD MAN KEF KBP LED",
    "africa": "JNB CAI CPT CMN ADD NBO LOS ALG TUN DKR ACC DAR LAD MRU",
    "asia": "PEK DXB HND HKG ICN SIN BKK DEL PVG CGK KUL BOM CAN NRT MNL TPE DOH KIX JED RUH TLV IKA KHI DAC "
    "CMB ALA TAS OVB VVO KTM HAN SGN CTU URC",
    "oceania": "SYD MEL AKL BNE PER HNL NAN PPT GUM CHC",
}
_MONTHS = {"january": 1, "july": 7}


def fetch_winds(month: str = "january", *, level: int = 200, cache_dir: Folder = None) -> Wind:
    """Monthly mean winds of the ERA-Interim reanalysis, as a function of the place.

    Parameters
    ----------
    month : {"january", "july"}, default="january"
        The month.
    level : {200, 500, 850}, default=200
        Pressure in hPa: about 12, 5.5 and 1.5 km high. Airliners cruise near 200.
    cache_dir : path or None, default=None
        As in :func:`~finsler.datasets.fetch_graph`.

    Returns
    -------
    wind : callable
        ``wind(latitude, longitude) -> (east, north)`` in km/h, bilinear on a grid of 0.75 degrees that wraps
        around, as :func:`~finsler.datasets.make_flight_hours` takes it.
    """
    check_arguments(fetch_winds, locals())
    check_choice("month", month, _MONTHS)
    path = fetch_file("eraint_uvz.nc", cache_dir=cache_dir)
    # maskandscale applies the scale, the offset and the missing values of the packed integers.
    with netcdf_file(path, mmap=False, maskandscale=True) as file:

        def get(name: str) -> NDArray[np.float64]:
            return np.ma.filled(file.variables[name][:].astype(float), np.nan)

        months, levels, latitude, longitude = map(get, ("month", "level", "latitude", "longitude"))
        if level not in levels:
            raise InputError(
                f"level={level!r} is not in the file; choose from {levels.astype(int).tolist()} hPa."
            )
        m, k = np.flatnonzero(months == _MONTHS[month])[0], np.flatnonzero(levels == level)[0]
        east, north = (3.6 * get(name)[m, k] for name in ("u", "v"))  # m/s to km/h
    return _wind_on_globe(latitude, longitude, east, north)


def fetch_flight_hours(
    month: str = "january",
    *,
    region: str = "north-america",
    level: int = 200,
    n_airports: int | None = None,
    cache_dir: Folder = None,
) -> Bunch:
    """Hours of flight between large airports in the mean winds of a month.

    Winds and airports are real; the hours are computed along great circles, without taxi, climb or approach,
    by :func:`~finsler.datasets.make_flight_hours`.

    Parameters
    ----------
    month : {"january", "july"}, default="january"
        Month of the winds. The jet stream is strong in the winter of each hemisphere.
    region : str, default="north-america"
        "world" or a continent: "north-america" (with the Caribbean), "south-america", "europe", "africa",
        "asia" or "oceania".
    level : {200, 500, 850}, default=200
        Pressure level of the winds in hPa.
    n_airports : int or None, default=None
        Only the first of the list, which runs roughly from the busiest down and, for the world, takes the
        continents in turn. None is all: 62 in North America, 160 in the world.
    cache_dir : path or None, default=None
        As in :func:`~finsler.datasets.fetch_graph`.

    Returns
    -------
    data : sklearn.utils.Bunch
        hours : ndarray of shape (n, n)
            Hours from the airport of the row to the airport of the column; the diagonal is zero.
        codes, names, cities, countries : list of str
            IATA codes, and what OpenFlights says of the airports.
        latitude, longitude : ndarray of shape (n,)
            Degrees, north and east positive.
        DESCR : str
            What the data are, and from where.
    """
    check_arguments(fetch_flight_hours, locals())
    codes = _airport_codes(region, n_airports)
    wind = fetch_winds(month, level=level, cache_dir=cache_dir)
    # Columns: id, name, city, country, IATA, ICAO, latitude, longitude, ...
    with fetch_file("airports.dat", cache_dir=cache_dir).open(encoding="utf-8", newline="") as file:
        rows = {row[4]: row for row in csv.reader(file)}
    columns = list(zip(*(rows[code] for code in codes), strict=True))
    latitude, longitude = np.array(columns[6:8], dtype=float)
    return Bunch(
        hours=make_flight_hours(latitude, longitude, wind=wind),
        codes=codes,
        names=list(columns[1]),
        cities=list(columns[2]),
        countries=list(columns[3]),
        latitude=latitude,
        longitude=longitude,
        DESCR=f"Flight hours between {len(codes)} airports ({region}), great circles, {AIRSPEED:g} km/h.\n\n"
        f"Winds: ERA-Interim (ECMWF), {month} mean at {level} hPa. Airports: OpenFlights (ODbL 1.0).\n"
        "The hours are computed, not observed, and hold no fixed time for taxi, climb or approach.\n"
        f"Source: {FILES['eraint_uvz.nc'].url}\nSource: {FILES['airports.dat'].url}\n",
    )


def _airport_codes(region: str, n_airports: int | None) -> list[str]:
    lists = {name: codes.split() for name, codes in _AIRPORTS.items()}
    lists["world"] = [code for turn in zip_longest(*lists.values()) for code in turn if code is not None]
    check_choice("region", region, lists)
    codes = lists[region]
    n = len(codes) if n_airports is None else n_airports
    if not isinstance(n, Integral) or not 2 <= n <= len(codes):
        raise InputError(
            f"n_airports must be an integer from 2 to {len(codes)} for region={region!r}, or None; got {n!r}."
        )
    return codes[:n]


def _wind_on_globe(
    latitude: NDArray[Any], longitude: NDArray[Any], east: NDArray[Any], north: NDArray[Any]
) -> Wind:
    """Bilinear interpolation. Latitudes descend; longitudes ascend and stop short of a full circle."""
    field = np.stack([east, north], axis=-1)
    if not np.isfinite(field).all():
        raise InputError(
            f"the wind is missing at {np.count_nonzero(~np.isfinite(field))} values of the grid."
        )
    field = np.concatenate([field, field[:, :1]], axis=1)[::-1]  # the first meridian again closes the circle
    return partial(
        _wind_at, RegularGridInterpolator((latitude[::-1], np.append(longitude, longitude[0] + 360)), field)
    )


def _wind_at(field: Any, latitude: ArrayLike, longitude: ArrayLike) -> tuple[NDArray[Any], NDArray[Any]]:
    west = field.grid[1][0]
    wrapped = west + (np.asarray(longitude, dtype=float) - west) % 360.0
    wind = field(np.stack(np.broadcast_arrays(latitude, wrapped), axis=-1))
    return wind[..., 0], wind[..., 1]
