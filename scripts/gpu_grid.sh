#!/usr/bin/env bash
# The IWSLT14 figures at profile `paper` on one GPU, as sweep arrays, within a time that is given.
#
#   scripts/gpu_grid.sh [--minutes 25] [--wheels FOLDER] [--recipes fig2a,…] [--first-seed 21] [--seeds 3]
#                       [--side-by-side] [--runs FOLDER] [--out FOLDER] [--dry-run] [OVERRIDE …]
#
#   --minutes     limit of the whole time; every epoch that is finished by then is kept
#   --wheels      folder of the packages that the machine lacks; it needs Python 3.12 and torch, and no network.
#                 To make them on another machine with Python 3.12: pip wheel --no-deps -w FOLDER -r requirements/lock.txt
#   --recipes     recipes of the figures
#   --first-seed  the first seed; --seeds: their number. They are trained one after another, so that the limit leaves
#                 complete comparisons
#   --side-by-side  all seeds at the same time, a process each; where there is NVIDIA's MPS, under it. For few arms a
#                 seed, whose arrays alone do not fill the GPU
#   --runs        folder of the run folders; a later call with the same folder resumes
#   --out         folder of the results: records, hypotheses, tables and figures in files of at most 15 MB, to be joined
#                 by: cat records.tar.xz.* | tar xJ
#   --dry-run     the same on a CPU, in two minutes: profile `small`, tiny, on the embedded corpus
#   OVERRIDE      any option of scripts/train.py, for instance data=tokenized data.path=… data_dir=…
#
# In the time that is left after all seeds one run of the first, Post-LN with warm-up, is trained again alone and in
# fp32, for its line in the log to be held against that of its twin in bf16 (one seed, and other dropout masks). Every
# epoch the first 500 sentences of valid are translated, and all of them every fifth. On a part of the corpus, say how
# many epochs are the paper's 16,500 updates, which is the one in which the rate drops, and that all of valid be
# translated more seldom: for 51,777 pairs max_epoch=49 scale.decay_epoch=24 evaluation.whole_valid_every=16
set -euo pipefail

minutes=25 wheels="" recipes=fig2a,fig2b,warmup_sensitivity,small_fixed_lr,fig4ab first_seed=21 seeds=3
runs=runs out=gpu_grid
check=fp32
side_by_side="" site="" mps=""
profile=(profile=paper evaluation.valid_sentences=500 evaluation.whole_valid_every=5)
dry=(profile=small max_epoch=2 "scale.toy={train_pairs: 200, valid_pairs: 20, test_pairs: 20}" model.encoder_layers=1
  model.decoder_layers=1 scale.warmup_updates.full=4 scale.warmup_updates.short=2)
overrides=()

fail() {
  echo "error: $1" >&2
  exit 2
}

while (($#)); do
  case $1 in
    --minutes | --first-seed | --seeds)
      [[ ${2-} =~ ^[1-9][0-9]*$ ]] || fail "$1 ${2-}: must be a whole number from 1"
      name=${1#--}
      declare "${name//-/_}=$2"
      shift 2
      ;;
    --wheels | --runs | --out)
      [[ -n ${2-} ]] || fail "$1: which folder?"
      declare "${1#--}=$(realpath -m "$2")"
      shift 2
      ;;
    --recipes)
      [[ -n ${2-} ]] || fail "--recipes: which figures?"
      recipes=$2
      shift 2
      ;;
    --side-by-side) side_by_side=yes; shift ;;
    --dry-run) profile=("${dry[@]}") check=bf16; shift ;;
    -h | --help) sed -n '2,/^set /{/^set /d;s/^# \{0,1\}//;p}' "$0"; exit ;;
    -*) fail "$1: no such option; see --help" ;;
    *) overrides+=("$1"); shift ;;
  esac
done

cd "$(dirname "$0")/.."
runs=$(realpath -m "$runs") out=$(realpath -m "$out")
mkdir -p "$runs" "$out/results"
end=$((SECONDS + minutes * 60))
packing=$((minutes * 6)) # seconds, a tenth of the time, kept for tables and archives
python=python3
[[ -x .venv/bin/python ]] && python=.venv/bin/python
export PYTHONPATH="$PWD${PYTHONPATH:+:$PYTHONPATH}"
# batches and growing translations ask for memory in ever new sizes; rounded, what was freed fits again
export PYTORCH_ALLOC_CONF="${PYTORCH_ALLOC_CONF-roundup_power2_divisions:8}"
clean_up() {
  [[ -z $mps ]] || echo quit | nvidia-cuda-mps-control || true
  [[ -z $site ]] || rm -rf "$site"
}
trap clean_up EXIT
if [[ -n $wheels ]]; then
  site=$(mktemp -d)
  python3 -m pip install --quiet --no-index --no-deps --no-compile --target "$site" "$wheels"/*.whl
  export PYTHONPATH="$site:$PYTHONPATH"
  python=python3
fi

"$python" -c 'import fairseq, lnexp.composer' || fail "the packages do not import on this machine, see above"

common=("runs_dir='$runs'" tracker=none "${profile[@]}" "${overrides[@]}")

running=()  # what is trained, by the process

# train WHAT OPTION…: in the background, killed when the time is over
train() {
  local what=$1 left=$((end - SECONDS - packing))
  ((left > 0)) || return 0
  echo "$what: $((left / 60)) minutes left" | tee -a "$out/log.txt"
  timeout --signal=KILL "$left" "$python" scripts/train.py "${@:2}" "${common[@]}" > >(tee -a "$out/log.txt") 2>&1 &
  running[$!]=$what
}

failed=0  # the exit code

# wait for all; a sweep in which runs failed has said so, and the others are kept
await() {
  local process code
  for process in "${!running[@]}"; do
    code=0
    wait "$process" || code=$?
    ((code == 0)) && continue
    echo "${running[$process]}: not all of it is done"
    ((code == 137)) || failed=1  # not for want of time
  done
  running=()
}

# end what is trained, which does not hear of an interrupt by itself, and wait until it has saved its state. `timeout`
# leads a process group of its own. If it alone is signalled while it begins the command, the command survives it; so the
# group is signalled, too. A process that nobody reaps stays in it, hence the limit
stop() {
  local group groups limit
  trap - INT TERM
  groups=$(jobs -p)
  for group in $groups; do
    kill -- "-$group" "$group" 2> /dev/null || true  # has just ended, or not begun
  done
  wait
  limit=$((SECONDS + 60))
  for group in $groups; do
    while ((SECONDS < limit)) && kill -0 -- "-$group" 2> /dev/null; do sleep 0.1; done
  done
  exit 130
}
trap stop INT TERM

if [[ -n $side_by_side ]] && command -v nvidia-cuda-mps-control > /dev/null; then
  nvidia-cuda-mps-control -d && mps=on  # processes that share a GPU without it take turns
fi
for ((seed = first_seed; seed < first_seed + seeds; seed++)); do
  train "seed $seed" -m -v "+recipe=$recipes" "first_seed=$seed" n_seeds=1 hydra/launcher=array
  [[ -n $side_by_side ]] || await
done
await
train "in $check" -m +recipe=fig2a arms=warmup_low "first_seed=$first_seed" n_seeds=1 "precision=$check"
await

"$python" scripts/collect.py --results "$out/results" "+recipe=$recipes" "first_seed=$first_seed" "n_seeds=$seeds" \
  "${common[@]}" || { echo "no tables: see above"; failed=1; }
rm -f "$out"/records.tar.xz.*
export XZ_OPT=-T0
tar -cJf - --exclude=checkpoints --exclude=wandb -C "$runs" --exclude=./.locks --exclude=./.sweeps . -C "$out" results \
  | split -b 15m - "$out/records.tar.xz."
ls -l "$out"
exit "$failed"
