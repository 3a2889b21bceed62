# The targets of lnexp; make help lists them.

.DEFAULT_GOAL := help
SHELL := /bin/bash
.DELETE_ON_ERROR:

# The Python to install for, 3.11 or 3.12; set PYTHON=… for another one.
PYTHON ?= $(shell for p in python3.12 python3.11 python3 python; do \
	$$p -c 'import sys; sys.exit(sys.version_info[:2] not in ((3, 11), (3, 12)))' 2>/dev/null && echo $$p && break; done)
PY := .venv/bin/python
# The torch to install, any from 2.6 to 2.13, as TORCH=torch==2.11.0, and again where .venv is made anew later;
# docs/running.md describes the build without CUDA.
LAST_TORCH := $(shell cat .venv/torch 2>/dev/null)
TORCH ?= $(or $(LAST_TORCH),-r requirements/torch.txt)
# Its words, quoted for the shell, which would take the > of a range for a file to write.
TORCH_WORDS = $(foreach word,$(TORCH),'$(subst ','\'',$(word))')
# What pip must find TORCH to be; it refuses any other before it downloads one.
TORCH_RANGE := $(shell sed -n 's/^ *"\(torch[<>=].*\)",/\1/p' pyproject.toml)

# Options of make reproduce-…: the profile (small | medium | paper; default: by machine), the corpus, the number of seeds
# (default: 3, which decides large differences; SEEDS=planned: each recipe's own number), the arms to train alone
# (ARMS='post_ln_*'; each recipe of the target must have some of that name), any other option.
PROFILE ?=
DATA ?=
SEEDS ?=
ARMS ?=
OPTIONS ?=
# The benchmarks of make bench, by name; default: all.
WHAT ?=
# The results that make verify and make report show, published unless told otherwise (RESULTS=results/local: your own),
# and a folder with those of another machine, for make report.
RESULTS ?= results
COMPARE ?=
# The placement of make test-placement.
NAME ?=
# The recipe whose results make publish moves.
RECIPE ?=

# One process a core is much faster than threads.
export OMP_NUM_THREADS := 1

help:  ## list the targets
	@grep -hE '^[a-z][a-z0-9-]*:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | awk -F'\t' '{printf "  make %-20s %s\n", $$1, $$2}'

install: .venv/installed  ## create .venv with pinned packages (other targets do this when needed)
	@$(if $(filter-out file,$(origin TORCH)),$(PY) -m lnexp.versions $(TORCH_WORDS))

.venv/installed: pyproject.toml requirements/lock.txt requirements/torch.txt
	@$(if $(PYTHON),$(PYTHON),false) -c 'import sys; sys.exit(sys.version_info[:2] not in ((3, 11), (3, 12)))' 2>/dev/null \
		|| { echo "lnexp needs Python 3.11 or 3.12 (the versions that fairseq is built for), and $(or $(PYTHON),what is installed) is neither; run make PYTHON=/path/to/python3.12 …"; exit 1; }
	@echo "setting up .venv with $$($(PYTHON) --version), once: some minutes, most of them for torch"
	@$(PYTHON) -m venv --clear .venv
	@$(PY) -m pip install -qq --disable-pip-version-check --no-compile --no-deps --require-hashes -r requirements/lock.txt
	@$(PY) -m pip install -qq --disable-pip-version-check --no-compile --no-warn-conflicts $(TORCH_WORDS) '$(TORCH_RANGE)' \
		|| { echo "torch is not installed; where TORCH is set, it must be one of $(TORCH_RANGE)"; exit 1; }
	@echo '$(subst ','\'',$(TORCH))' > .venv/torch
	@$(PY) -m pip install -qq --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@$(PY) -W ignore -m compileall -qq -j 0 .venv/lib || true  # on all cores, where pip takes one; some packages have files of Python 2
	@touch $@

N_SEEDS = $(if $(filter-out planned,$(SEEDS)),n_seeds=$(SEEDS))

REPRODUCE = @$(PY) scripts/reproduce.py $(if $(PROFILE),profile=$(PROFILE)) $(if $(DATA),data=$(DATA)) \
	$(if $(SEEDS),$(N_SEEDS),n_seeds=3) $(if $(ARMS),'arms=$(ARMS)') $(OPTIONS)

# Of OPTIONS probe.py takes what it has a use for.
PROBE = @$(PY) scripts/probe.py --leave-out-others $(if $(DATA),data=$(DATA)) $(N_SEEDS) $(OPTIONS)

reproduce-iwslt: install  ## the IWSLT14 figures, Fig. 2(a), 4(a,b) and 6, and their verdicts (PROFILE= DATA= SEEDS= ARMS= OPTIONS=)
	$(REPRODUCE) +recipe=fig2a,fig4ab,warmup_sensitivity,small_fixed_lr

reproduce-multi30k: install  ## the same figures on Multi30k, real text: hours on two CPU cores (SEEDS=)
	$(REPRODUCE) $(if $(PROFILE),,profile=medium) +recipe=fig2a,fig4ab,placement_decoupled,radam,warmup_sensitivity,small_fixed_lr,fig2a_coupled,fig2b

reproduce-controls: install  ## the same in fairseq's schedule, with equal budgets, RAdam's β2, the paper's initialisation
	$(REPRODUCE) +recipe=placement_decoupled,fig2a_coupled,fig4ab_coupled,placement_coupled,warmup_sensitivity_coupled,equal_budget,radam,fig4ab_init

reproduce-wmt: install  ## the WMT14 figure, Fig. 4(c,d), and its verdicts
	$(REPRODUCE) +recipe=fig4cd

reproduce-factorial: install  ## placement × optimizer × warm-up × lr_max, and Fig. 2(b), SGD, in both readings
	$(REPRODUCE) +recipe=factorial,fig2b,fig2b_coupled

reproduce-bert: install  ## Fig. 5, BERT's pre-training and fine-tuning, and verdicts: minutes on two CPU cores (SEEDS=)
	$(REPRODUCE) +recipe=fig5,fig5_finetune

reproduce-placements: install  ## beyond the paper: nine placements × warm-up × lr_max, by depth, and before training
	$(PROBE) +recipe=theory_placements,amplification,dependency,dependency_pairs
	$(REPRODUCE) +recipe=placements,depth,states_in_training

reproduce-map: install  ## beyond the paper: eleven placements and QK-norm × rates × lengths of warm-up, and depth by rate: many hours on two CPU cores
	$(REPRODUCE) +recipe=warmup_by_rate,map,map_qk_norm,depth_by_rate

reproduce-why: install  ## beyond the paper: what saves Post-LN without warm-up, by interventions in its updates
	$(REPRODUCE) +recipe=interventions,interventions_high_rate,layers_held_back,adam_2k,radam_parts,stall,failure,sharpness,first_updates
	$(PROBE) $(if $(SEEDS),,n_seeds=3) +recipe=linear_probes  # of the runs of failure

reproduce-why-real-text: install  ## beyond the paper: interventions on Multi30k, and Post-LN and Pre-LN at their own best rates: many hours on two CPU cores
	$(REPRODUCE) $(if $(PROFILE),,profile=medium) +recipe=interventions_real_text,adam_2k_real_text,tuned_rate

theory: install  ## Fig. 3, lemmas, Theorem 1, concentration, measured on a CPU, and their verdicts (DATA= SEEDS= OPTIONS=)
	$(PROBE) +recipe=fig3,fig3_layers,theory_lemma1,theory_lemma2,theory_lemma3,theory_theorem1,theory_growth,theory_growth_decoder,theory_concentration
	@$(PY) scripts/verify.py --profile theory --results results/local
	$(REPRODUCE) +recipe=fig3_warmup $(if $(PROFILE),,profile=small)

status: install  ## show the state of the newest sweep, live
	@$(PY) scripts/status.py

verify: install  ## print what came out on one screen (RESULTS=results/local: of your own results; OPTIONS=--all: every claim)
	@$(PY) scripts/verify.py --results $(RESULTS) $(OPTIONS)

report: install  ## write report.html, one page of all results and runs (RESULTS=, COMPARE=: beside those of another folder)
	@$(PY) scripts/report.py $(RESULTS) $(COMPARE)

publish: install  ## move your results of RECIPE= (PROFILE= DATA=) from results/local into the published ones
	@$(PY) scripts/publish.py --recipe "$(RECIPE)" $(if $(PROFILE),--profile $(PROFILE)) $(if $(DATA),--data $(DATA))
	@$(PY) scripts/pages.py

pages: install  ## write what the published results say into README.md and docs/ anew
	@$(PY) scripts/pages.py

wandb-sync: install  ## upload the runs that were tracked offline (after wandb login) and are not uploaded yet
	@$(PY) scripts/wandb_sync.py

figures: install  ## draw the figures of all results again, as PNG, SVG and PDF
	@$(PY) scripts/figures.py

test: install  ## run all tests
	@$(PY) -m pytest

test-placement: install  ## test the placement NAME=mine: updates, resuming, arrays, incremental decoding, half precision
	@test -n "$(NAME)" || { echo "which placement? make test-placement NAME=mine"; exit 1; }
	@test -f "configs/model/$(NAME).yaml" || { echo "NAME=$(NAME): no configs/model/$(NAME).yaml"; exit 1; }
	@PLACEMENT=$(NAME) $(PY) -m pytest -o addopts=-q --no-header --tb=short tests/training/test_one_placement.py tests/plugin
	@echo "$(NAME): trains, resumes, joins arrays, decodes step by step, and works in half precision"

check: lint  ## what one runs before each commit: style, types and the tests that are not slow
	@$(PY) -m pytest -m "not slow"

lint: install  ## check style and types
	@$(PY) -m ruff check . && $(PY) -m ruff format --check . && $(PY) -m mypy

bench: install  ## run the benchmarks (WHAT=training,arrays OPTIONS=; make bench WHAT=--list lists them)
	@$(PY) scripts/bench.py $(WHAT) $(OPTIONS)

lock: install  ## update requirements/lock.txt to the newest versions that pyproject.toml allows
	@$(PY) -m uv pip compile --quiet --upgrade --universal --python-version 3.11 --generate-hashes --no-header \
		--no-emit-index-url --no-emit-find-links $(foreach name,$(LEFT_TO_TORCH),--no-emit-package $(name)) \
		--extra dev pyproject.toml requirements/fairseq.txt --output-file requirements/lock.txt

# torch itself, what only its CUDA build needs, and torchaudio, which fairseq asks for and translation never imports.
LEFT_TO_TORCH := torch torchaudio triton cuda-bindings cuda-pathfinder cuda-toolkit $(addprefix nvidia-,\
	cublas cuda-cupti cuda-nvrtc cuda-runtime cudnn-cu13 cufft cufile curand cusolver cusparse cusparselt-cu13 \
	nccl-cu13 nvjitlink nvshmem-cu13 nvtx)

clean:  ## remove .venv; runs, data and results stay
	@rm -rf .venv

.PHONY: help install reproduce-iwslt reproduce-multi30k reproduce-controls reproduce-wmt reproduce-factorial reproduce-bert reproduce-placements reproduce-map reproduce-why reproduce-why-real-text theory status verify report publish wandb-sync pages figures test test-placement check lint bench lock clean
