#!/bin/sh
# Map five large digraphs with the command line and score the maps on held-out rows.
#
#     sh experiments/large_graphs/run.sh FOLDER [JOBS]
#
# FOLDER holds NAME.npz with the arrays src, dst and n_nodes. Writes results/NAME.json (the map and its scores) and
# results/NAME.report.json (the sampled asymmetry report), then results.md with `summarize.py`.
set -eu
folder=$1
jobs=${2:-2}
here=$(dirname "$0")
mkdir -p "$here/results" "$here/maps"
for name in cit_hepth soc_epinions1 arxiv_year npm_deps_2016 arxiv2023; do
    finsler embed "$folder/$name.npz" --kind edges --hops --method sparse --n-pivots 100 --unreachable largest --connection weak \
        --n-jobs "$jobs" --out "$here/maps/$name.npz" --force --json > "$here/results/$name.json"
    finsler report "$folder/$name.npz" --kind edges --hops --n-jobs "$jobs" --json > "$here/results/$name.report.json"
done
python "$here/summarize.py"
