"""The networks of networks.py: one of each family, small. NETWORKS maps a name to a function that gives a module and its inputs by keyword
(an empty keyword: by position)."""
import functools

TOKENS = 24

TIMM = """
resnet18 resnet26t resnetv2_50 resnetv2_50x1_bit legacy_seresnet18 seresnext26d_32x4d resnest14d res2net50_26w_4s ecaresnet26t skresnet18 resnext26ts
regnetx_002 regnety_002 regnetz_b16 efficientnet_b0 efficientnet_lite0 tf_efficientnet_b0 efficientnetv2_rw_t tf_efficientnetv2_b0 mixnet_s mnasnet_small
semnasnet_075 tf_mobilenetv3_small_minimal_100 mobilenetv3_small_100 mobilenetv4_conv_small mobilenetv4_hybrid_medium fbnetc_100 fbnetv3_b spnasnet_100
hardcorenas_a ghostnet_100 ghostnetv2_100 lcnet_050 tinynet_e rexnet_100 dpn48b densenet121 dla34 dla46x_c ese_vovnet19b_dw selecsls42 hrnet_w18_small
inception_v3 inception_resnet_v2 inception_v4 xception41 legacy_xception nasnetalarge pnasnet5large darknet53 cspdarknet53 cspresnext50 cs3darknet_focus_s
cs3edgenet_x repvgg_a0 repghostnet_050 mobileone_s0 fastvit_t8 fastvit_sa12 vgg11_bn convmixer_1024_20_ks9_p14 convit_tiny crossvit_tiny_240 coat_tiny
coatnet_nano_rw_224 coatnext_nano_rw_224 maxvit_nano_rw_256 maxxvit_rmlp_nano_rw_256 maxxvitv2_nano_rw_256 cait_xxs24_224 beit_base_patch16_224
beitv2_base_patch16_224 deit_tiny_distilled_patch16_224 deit3_small_patch16_224 eva02_tiny_patch14_224 levit_128s levit_conv_128s mobilevit_xxs
mobilevitv2_050 edgenext_xx_small efficientformer_l1 efficientformerv2_s0 efficientvit_b0 efficientvit_m0 poolformer_s12 poolformerv2_s12
convformer_s18 caformer_s18 pit_ti_224 pit_ti_distilled_224 pvt_v2_b0 twins_pcpvt_small twins_svt_small swin_tiny_patch4_window7_224
swinv2_tiny_window8_256 swinv2_cr_tiny_ns_224 swin_s3_tiny_224 tnt_s_patch16_224 tnt_s_legacy_patch16_224 visformer_tiny volo_d1_224 xcit_nano_12_p16_224 nest_tiny
nextvit_small gcvit_xxtiny focalnet_tiny_srf davit_tiny hiera_tiny_224 inception_next_tiny inception_next_atto mambaout_femto mvitv2_tiny sequencer2d_s mixer_s32_224
gmixer_24_224 gmlp_s16_224 resmlp_12_224 vit_tiny_patch16_224 vit_relpos_small_patch16_224 vit_srelpos_small_patch16_224 vit_small_patch16_rope_224
vit_small_patch16_rope_mixed_224 vit_little_patch16_reg4_gap_256 vit_small_resnet26d_224 vit_wee_patch16_reg1_gap_256 flexivit_small vitamin_small_224
tiny_vit_5m_224 repvit_m1 rdnet_tiny
starnet_s1 shvit_s1 swiftformer_xs fasternet_t0 lsnet_t halonet26t botnet26t_256 lambda_resnet26t bat_resnext26ts eca_halonext26ts sehalonet33ts gernet_s
nf_regnet_b0 nf_resnet26 dm_nfnet_f0 haloregnetz_b sam2_hiera_tiny samvit_base_patch16 convnext_atto convnextv2_atto convnext_tiny_hnf crossvit_9_dagger_240
resnet50_clip_gap resnetaa50 resnetblur18 resnetrs50 seresnextaa101d_32x8d tresnet_m cait_xxs36_224 vit_pwee_patch16_reg1_gap_256 naflexvit_base_patch16_gap csatv2
""".split()

TORCHVISION = """
alexnet mnasnet0_5 shufflenet_v2_x0_5 googlenet squeezenet1_0 vgg11 resnext50_32x4d wide_resnet50_2 densenet169 efficientnet_v2_s convnext_tiny vit_b_16 swin_v2_t
maxvit_t
mobilenet_v2 mobilenet_v3_small regnet_y_400mf
segmentation.deeplabv3_mobilenet_v3_large segmentation.lraspp_mobilenet_v3_large segmentation.fcn_resnet50 video.r3d_18 video.mc3_18 video.r2plus1d_18
video.s3d video.mvit_v1_b video.mvit_v2_s video.swin3d_t optical_flow.raft_small
""".split()

# model types of transformers whose base model reads ids
TEXT = """
albert arcee bamba bart bert bert-generation big_bird bigbird_pegasus biogpt bitnet blenderbot blenderbot-small bloom camembert canine codegen cohere cohere2
convbert cpmant ctrl data2vec-text deberta deberta-v2 deepseek_v2 deepseek_v3 diffllama distilbert doge dots1 electra ernie ernie4_5 ernie4_5_moe esm exaone4 falcon
falcon_h1
falcon_mamba flaubert fnet fsmt funnel gemma gemma2 gemma3_text glm glm4 glm4_moe gpt2 gpt_bigcode gpt_neo gpt_neox gpt_neox_japanese gpt_oss gptj granite
granitemoe helium hunyuan_v1_dense ibert jamba jetmoe layoutlm layoutlmv3 led lfm2 lilt llama llama4_text longformer longt5 luke m2m_100 mamba mamba2
marian markuplm mbart megatron-bert minimax ministral mistral mixtral mobilebert modernbert mpnet mpt mra mt5 mvp nemotron nezha nystromformer olmo olmo2 olmo3 olmoe
openai-gpt
opt pegasus pegasus_x persimmon phi phi3 phimoe plbart prophetnet qwen2 qwen2_moe qwen3 qwen3_moe qwen3_next recurrent_gemma reformer rembert roberta
roberta-prelayernorm roc_bert roformer rwkv seed_oss smollm3 splinter squeezebert stablelm starcoder2 switch_transformers t5 t5gemma tapas umt5 xglm xlm xlm-prophetnet
xlm-roberta xlm-roberta-xl xlnet xmod yoso zamba zamba2
""".split()

# model types that read pictures
VISION = """
aria_text beit bit blip_2_vision_model clip_vision_model blip_vision_model siglip_vision_model siglip2_vision_model chinese_clip_vision_model convnext convnextv2 cvt
data2vec-vision
deit depth_anything detr conditional_detr deformable_detr dab-detr rt_detr rt_detr_v2 d_fine table-transformer dinat dinov2 dinov2_with_registers dinov3_vit
dinov3_convnext donut-swin dpt efficientnet efficientformer efficientloftr focalnet glpn hgnet_v2 hiera ijepa levit mask2former maskformer mgp-str mlcd mobilenet_v1
mobilenet_v2 mobilevit
mobilevitv2 nat owlvit_vision_model owlv2_vision_model oneformer poolformer prompt_depth_anything pvt pvt_v2 regnet resnet sam_vision_model seggpt
segformer superpoint swiftformer swin swin2sr swinv2 textnet timesformer upernet van videomae vit vit_mae vit_msn vitdet vitmatte vitpose_backbone vivit yolos zoedepth
""".split()

AUDIO = """
audio-spectrogram-transformer clap_audio_model data2vec-audio encodec dac mimi hubert mctct moonshine parakeet_encoder sew sew-d speech_to_text speecht5 unispeech
unispeech-sat
univnet vits wav2vec2 wav2vec2-bert wav2vec2-conformer wavlm whisper fastspeech2_conformer seamless_m4t clvp
""".split()

OTHERS = """
clip siglip vilt blip flava lxmert visual_bert patchtst patchtsmixer decision_transformer timesfm perceiver autoformer informer time_series_transformer altclip groupvit
xclip bridgetower align
""".split()

SMALLER = {"num_hidden_layers": 2, "num_layers": 2, "n_layer": 2, "n_layers": 2, "encoder_layers": 2, "decoder_layers": 2, "num_encoder_layers": 2, "num_decoder_layers": 2,
           "vocab_size": 1000, "num_local_experts": 4, "num_experts": 4, "n_routed_experts": 8, "intermediate_size_mlp": None, "num_hidden_groups": 1}
STEPS_FIRST = ("speech_to_text", "wav2vec2-bert", "parakeet_encoder", "mctct")
FEWER_WORDS_BREAK = {"flaubert", "xlm", "canine", "fsmt", "clvp", "vits"}


def of_timm(name):
    import timm
    import torch
    model = timm.create_model(name, pretrained=False)
    return model, {"": torch.randn(1, *model.default_cfg["input_size"])}


def of_torchvision(name):
    import torch
    import torchvision
    family, _, plain = name.rpartition(".")
    place = getattr(torchvision.models, family) if family else torchvision.models
    options = {"init_weights": True, "aux_logits": False} if plain == "googlenet" else {}
    if family == "segmentation":
        options = {"weights_backbone": None}
    model = getattr(place, plain)(weights=None, **options)
    if family == "optical_flow":
        class Flow(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.model = model

            def forward(self, a, b):
                return self.model(a, b, num_flow_updates=3)[-1]

        return Flow(), {"a": torch.randn(1, 3, 128, 160), "b": torch.randn(1, 3, 128, 160)}
    if family == "video":
        return model, {"": torch.randn(1, 3, 16, 224, 224) if "mvit" in plain else torch.randn(1, 3, 8 if "swin" in plain else 16, 112, 112)}
    return model, {"": torch.randn(1, 3, 224, 224)}


def parts_of(config):
    """The configuration and those inside it."""
    return [config] + [v for v in vars(config).values() if hasattr(v, "model_type")]


def shrink(config, kind):
    """Fewer layers and words, in the configuration and in those inside it. `kind` says which cannot do with fewer words."""
    for part in parts_of(config):
        for key, value in SMALLER.items():
            if value is None or not isinstance(getattr(part, key, None), int) or getattr(part, key) <= value:
                continue
            if key == "vocab_size" and kind in FEWER_WORDS_BREAK:
                continue
            try:
                setattr(part, key, value)
            except Exception:  # a name that the configuration only computes
                pass
        if isinstance(vars(part).get("layer_types"), list):  # others compute it
            part.layer_types = part.layer_types[:part.num_hidden_layers]
        for key in ("pad_token_id", "bos_token_id", "eos_token_id", "decoder_start_token_id"):
            value = getattr(part, key, None)
            if isinstance(value, int) and value >= (getattr(part, "vocab_size", None) or 1 << 60):
                setattr(part, key, 1)
        if hasattr(part, "use_cache"):
            part.use_cache = False
    return config


def picture_size(config):
    for part in parts_of(config):
        size = getattr(part, "image_size", None)
        if isinstance(size, (list, tuple)):
            return list(size)[-2:]
        if isinstance(size, int):
            return [min(size, 512)] * 2
    return [224, 224]


def sound_for(config, bins):
    import torch
    if config.model_type == "audio-spectrogram-transformer":
        return torch.randn(1, getattr(config, "max_length", 1024), bins)
    return torch.randn(1, 1, 8000) if config.model_type in ("encodec", "dac", "mimi") else torch.randn(1, 8000)


def made_up_inputs(model, config):
    """Inputs by the names that the model's forward takes, those that it cannot do without."""
    import inspect
    import torch
    taken = inspect.signature(model.forward).parameters
    frames = getattr(config, "num_frames", 8)
    words = lambda: torch.randint(5, 900, (1, TOKENS))  # noqa: E731
    mask = torch.ones(1, TOKENS, dtype=torch.int64)
    mask[0, TOKENS * 3 // 4:] = 0
    video = config.model_type in ("timesformer", "videomae", "vivit", "xclip")
    pixels = torch.randn(*([1, frames] if video else [1]), getattr(config, "num_channels", 3) or 3, *picture_size(config))
    bins = next((n for n in (getattr(config, key, 0) for key in ("num_mel_bins", "input_feat_per_channel", "feature_projection_input_dim")) if n), 80)
    steps = 2 * getattr(config, "max_source_positions", 1500) if config.model_type == "whisper" else 100
    offers = {
        "input_ids": words, "attention_mask": lambda: mask if "input_ids" in taken else None, "decoder_input_ids": words,
        "decoder_attention_mask": lambda: torch.ones_like(mask), "pixel_values": lambda: pixels,
        "bbox": lambda: torch.randint(0, 500, (1, TOKENS, 2)).repeat(1, 1, 2).cumsum(-1).clamp(max=999),
        "input_values": lambda: sound_for(config, bins),
        "input_features": lambda: torch.randn(1, *((steps, bins) if config.model_type in STEPS_FIRST else (bins, steps))),
    }
    inputs = {key: offers[key]() for key in taken if key in offers and not (key == "bbox" and "input_ids" not in taken)}
    return {key: value for key, value in inputs.items() if value is not None}


def narrow(config):
    """Eight heads of 64 where there are more and wider rows than 1024: gigabytes of random weights show nothing more."""
    for part in parts_of(config):
        for width, heads in (("hidden_size", "num_attention_heads"), ("n_embd", "n_head"), ("d_model", "encoder_attention_heads")):
            if not isinstance(getattr(part, width, None), int) or getattr(part, width) <= 1024 or not getattr(part, heads, None):
                continue
            setattr(part, width, 512)
            setattr(part, heads, 8)
            for key, value in (("num_key_value_heads", 2), ("num_kv_heads", 2), ("intermediate_size", 1024), ("ffn_hidden_size", 1024), ("n_inner", 1024),
                               ("decoder_attention_heads", 8), ("encoder_ffn_dim", 1024), ("decoder_ffn_dim", 1024), ("head_dim", 64), ("moe_intermediate_size", 256)):
                if isinstance(getattr(part, key, None), int) and getattr(part, key) > value:
                    setattr(part, key, value)
    return config


def of_transformers(kind):
    import torch
    import transformers

    def made(config):
        model = transformers.AutoModel.from_config(config)
        return model, made_up_inputs(model, config)

    def shrunk():
        return shrink(transformers.AutoConfig.for_model(kind), kind)

    try:
        model, inputs = made(narrow(shrunk()))
        with torch.no_grad():
            model.eval()(**inputs)
        return model, inputs
    except Exception:  # sizes that a type of model derives from others: as wide as it is by default
        return made(shrunk())


NETWORKS = {
    **{f"timm.{name}": functools.partial(of_timm, name) for name in TIMM},
    **{f"torchvision.{name}": functools.partial(of_torchvision, name) for name in TORCHVISION},
    **{f"transformers.{name}": functools.partial(of_transformers, name) for name in TEXT + VISION + AUDIO + OTHERS},
}
