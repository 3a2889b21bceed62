#!/usr/bin/env bash
# The IWSLT14 figures at profile `paper` on one GPU, as sweep arrays, within a time that is given.
#
#   scripts/gpu_grid.sh [--minutes 25] [--wheels FOLDER] [--recipes fig2a,…] [--seeds "11 12 13"] [--runs FOLDER]
#                       [--out FOLDER] [--dry-run] [OVERRIDE …]
#
#   --minutes   how long it may take in all; what is trained by then is kept, every finished epoch of it
#   --wheels    where packages lie that the machine lacks; it needs Python 3.12 and torch alone, and no network
#   --recipes   which figures
#   --seeds     which seeds, one after another, so that a cut leaves whole comparisons
#   --runs      where the run folders are; the same folder another day goes on where this one stopped
#   --out       where the results go: records, hypotheses, tables and figures in files of at most 15 MB
#   --dry-run   the same on a CPU, in two minutes: profile `small`, tiny, on the embedded corpus
#   OVERRIDE    any option of scripts/train.py, for instance data=tokenized data.path=… data_dir=…
set -euo pipefail

minutes=25 wheels="" recipes=fig2a,fig2b,warmup_sensitivity,small_fixed_lr,fig4ab seeds="11 12 13"
runs=runs out=gpu_grid
profile=(profile=paper)
dry=(profile=small max_epoch=2 "scale.toy={train_pairs: 200, valid_pairs: 20, test_pairs: 20}" model.encoder_layers=1
  model.decoder_layers=1 scale.warmup_updates.full=4 scale.warmup_updates.short=2)
overrides=()
while (($#)); do
  case $1 in
    --minutes) minutes=$2; shift 2 ;;
    --wheels) wheels=$2; shift 2 ;;
    --recipes) recipes=$2; shift 2 ;;
    --seeds) seeds=$2; shift 2 ;;
    --runs) runs=$2; shift 2 ;;
    --out) out=$2; shift 2 ;;
    --dry-run) profile=("${dry[@]}"); shift ;;
    -h | --help) sed -n '2,/^set /{/^set /d;s/^# \{0,1\}//;p}' "$0"; exit ;;
    -*) echo "error: $1: no such option; see --help" >&2; exit 2 ;;
    *) overrides+=("$1"); shift ;;
  esac
done
[[ $minutes =~ ^[1-9][0-9]*$ ]] || { echo "error: --minutes $minutes: must be a whole number from 1" >&2; exit 2; }

cd "$(dirname "$0")/.."
end=$((SECONDS + minutes * 60))
packing=$((minutes > 4 ? 60 : 10)) # seconds kept for tables and archives
python=python3
[[ -x .venv/bin/python ]] && python=.venv/bin/python
if [[ -n $wheels ]]; then
  site=$(mktemp -d)
  python3 -m pip install --quiet --no-index --no-deps --no-compile --target "$site" "$wheels"/*.whl
  export PYTHONPATH="$site:$PWD${PYTHONPATH:+:$PYTHONPATH}"
  python=python3
fi
mkdir -p "$out"

common=("runs_dir=$runs" "${profile[@]}" "${overrides[@]}")
for seed in $seeds; do
  left=$((end - SECONDS - packing))
  ((left > 0)) || break
  echo "seed $seed: $((left / 60)) minutes left"
  # what is over when the time is: timeout's 124; a sweep in which runs failed has said so, and the others are kept
  timeout --signal=KILL "$left" "$python" scripts/train.py -m "+recipe=$recipes" "first_seed=$seed" n_seeds=1 \
    hydra/launcher=array tracker=none "${common[@]}" 2>&1 | tee -a "$out/log.txt" || echo "seed $seed: not all of it is done"
done

first=${seeds%% *}
"$python" scripts/collect.py --results "$out/results" "+recipe=$recipes" "first_seed=$first" \
  "n_seeds=$(wc -w <<<"$seeds")" "${common[@]}" || echo "no tables: see above"
tar --exclude=checkpoints --exclude=wandb --exclude='.*' -cJf - "$runs" "$out/results" | split -b 15m - "$out/records.tar.xz."
ls -l "$out"
