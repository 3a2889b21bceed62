"""The fairseq models ``lnexp_<placement>``: their options, and how one is built for a task."""

from argparse import BooleanOptionalAction, Namespace
from collections.abc import Callable
from dataclasses import Field, dataclass, field, fields, make_dataclass
from typing import Any, ClassVar

from fairseq.dataclass import ChoiceEnum, FairseqDataclass
from fairseq.models import BaseFairseqModel, register_model
from fairseq.models.transformer import TransformerConfig
from omegaconf import II, OmegaConf

from . import norms  # noqa: F401  (registers them)
from .encoder_decoder import EncoderDecoder
from .family import Family
from .initialisation import INITIALISATIONS, initialise
from .norm import NORMS
from .placement import Placement, PlacementFactory, RegisteredPlacement, Side, Where, option
from .registered_names import refuse_second


@dataclass
class PlacedModelConfig(FairseqDataclass):
    """The model's options; the defaults are the paper's IWSLT14 model (section 4).

    The fields are flat and carry the names of fairseq's own ``transformer`` flags, so the command line of
    ``fairseq-train`` and a Hydra config set them alike. (A nested dataclass loses its overrides on one of the two.)
    """

    encoder_embed_dim: int = option(512, "encoder width d")
    encoder_ffn_embed_dim: int = option(1024, "encoder FFN width")
    encoder_layers: int = option(6, "encoder layers")
    encoder_attention_heads: int = option(4, "encoder attention heads")
    decoder_embed_dim: int = option(512, "decoder width d")
    decoder_ffn_embed_dim: int = option(1024, "decoder FFN width")
    decoder_layers: int = option(6, "decoder layers")
    decoder_attention_heads: int = option(4, "decoder attention heads")
    dropout: float = option(0.1, "dropout of every sublayer's output and of the embeddings")
    attention_dropout: float = option(0.0, "dropout of the attention weights")
    activation_dropout: float = option(0.0, "dropout after the FFN's activation")
    activation_fn: str = option("relu", "the FFN's activation")
    share_decoder_input_output_embed: bool = option(True, "tie the decoder's embedding and its output projection")
    share_all_embeddings: bool = option(False, "tie all three; needs a joined dictionary")
    checkpoint_activations: bool = option(False, "recompute activations in the backward pass, to save memory")
    norm: ChoiceEnum(list(NORMS)) = option("layer_norm", "what normalises")  # type: ignore[valid-type]
    fix_norm: bool = option(False, "word embeddings of length 1")
    qk_norm: bool = option(False, "normalise attention's queries and keys, head by head")
    init: ChoiceEnum(list(INITIALISATIONS)) = option("paper", "initialisation")  # type: ignore[valid-type]
    max_source_positions: int = II("task.max_source_positions")
    max_target_positions: int = II("task.max_target_positions")


class PlacedModel(BaseFairseqModel):
    """What fairseq knows by the name of a placement; it builds a model of the task's family, never one of this class.

    A subclass made by :func:`register_placement` names the placement.
    """

    placement: ClassVar[RegisteredPlacement]
    config: ClassVar[type[PlacedModelConfig]]

    @classmethod
    def add_args(cls, parser):
        """Add the model's options to the parser of fairseq's command line.

        fairseq makes a bool that is true by default a flag that turns it off under the name that says on: such an
        option gets a pair ``--…`` and ``--no-…`` instead, before fairseq comes to it.
        """
        for known in fields(cls.config):
            if known.default is True:
                flag = f"--{known.name.replace('_', '-')}"
                parser.add_argument(flag, action=BooleanOptionalAction, help=known.metadata["help"])
        super().add_args(parser)

    @classmethod
    def build_model(cls, cfg: PlacedModelConfig, task) -> Family:
        """Build and initialise the model of the family that the task names; without one, an encoder-decoder.

        Raises:
            ValueError: for a kind of norm where the placement has none, or a stack without layers.
        """
        options = _flat(cfg)
        family = getattr(task, "family", EncoderDecoder)
        stacks = _stacks(cls.placement, options, family)
        if options["norm"] != "layer_norm" and not any(
            layer.block_norms or layer.head_norms for stack in stacks.values() for layer in stack
        ):
            raise ValueError(f"norm={options['norm']}: {cls.placement.factory.__name__} normalises nothing")
        model = family.build(_to_transformer_config(options, stacks), task)
        initialise(model, options["init"])
        return model


def _flat(cfg: PlacedModelConfig) -> dict[str, Any]:
    """Return the model's options by name, choices as strings."""
    flat: Any = OmegaConf.to_container(cfg, resolve=True, enum_to_str=True) if OmegaConf.is_config(cfg) else vars(cfg)
    return flat | {name: str(flat[name]) for name in ("norm", "init")}


def _stacks(
    placement: RegisteredPlacement, options: dict[str, Any], family: type[Family]
) -> dict[Side, list[Placement]]:
    """Return the placements of all layers by side, in the order of the layers.

    Raises:
        ValueError: for a stack without layers.
    """
    layers = {side: options[f"{side}_layers"] if side in family.sides else 0 for side in ("encoder", "decoder")}
    norm = NORMS[options["norm"]]

    def at(side: Side, number: int) -> Placement:
        width = options[f"{side}_embed_dim"]
        layer = placement.at(Where(side, number, layers["encoder"], layers["decoder"], width, norm), options)
        layer.head_norms |= QK_NORM if options["qk_norm"] else set()
        return layer

    for side in family.sides:
        if layers[side] < 1:
            raise ValueError(f"{side}_layers={layers[side]}: must be at least 1")
    return {side: [at(side, number) for number in range(1, layers[side] + 1)] for side in family.sides}


def _to_transformer_config(options: dict[str, Any], stacks: dict[Side, list[Placement]]) -> TransformerConfig:
    """Return our flat options as fairseq's nested ones, with the layers' placements as ``placements``."""
    ends = {f"{side}_normalize_before": stack[-1].final_norm for side, stack in stacks.items()}
    # fairseq defaults these two to its own width, not to ours
    widths = {f"decoder_{end}_dim": options["decoder_embed_dim"] for end in ("input", "output")}
    return TransformerConfig.from_namespace(Namespace(**options, **ends, **widths, placements=stacks))


#: What ``qk_norm`` normalises in every attention, whatever the placement: ``softmax(LN(q) LN(k)ᵀ / √d) v`` in each head
#: of d channels (Dehghani et al. 2023, "Scaling Vision Transformers to 22 Billion Parameters"; the formula is in Zhuo
#: et al. 2025, "HybridNorm", eq. 43). Henry et al. 2020 have vectors of length 1 and a learned factor instead, OLMo 2
#: one RMSNorm over all heads.
QK_NORM = frozenset("qk")

#: The registered placements by name.
PLACEMENTS: dict[str, RegisteredPlacement] = {}


def register_placement(name: str, options: type | None = None) -> Callable[[PlacementFactory], PlacementFactory]:
    """Decorator: register a placement, and with it fairseq's model ``lnexp_<name>``.

    What is decorated is a subclass of :class:`Placement`, or a function that returns a placement for a layer.

    Args:
        name: as in ``model=<name>`` and ``--arch lnexp_<name>``.
        options: a dataclass of the placement's own options, each with a default and a help text (:func:`option`); the
            model has them as ``<name>_<option>``.
    """

    def register(factory: PlacementFactory) -> PlacementFactory:
        refuse_second(PLACEMENTS, name)
        placement = PLACEMENTS[name] = RegisteredPlacement(name, factory, options)
        config = _config_with(placement)
        register_model(f"lnexp_{name}", dataclass=config)(
            type(f"{factory.__name__}Model", (PlacedModel,), {"placement": placement, "config": config})
        )
        return factory

    return register


def _copy(known: Field) -> Any:
    """Return a field of a dataclass for another dataclass."""
    return field(default=known.default, default_factory=known.default_factory, metadata=known.metadata)


def _config_with(placement: RegisteredPlacement) -> type[PlacedModelConfig]:
    """Return the dataclass of a model's options with those of its placement behind them, flattened."""
    if placement.options is None:
        return PlacedModelConfig
    own = [(placement.option_name(known.name), known.type, _copy(known)) for known in fields(placement.options)]
    return make_dataclass(f"{placement.factory.__name__}Config", own, bases=(PlacedModelConfig,))
