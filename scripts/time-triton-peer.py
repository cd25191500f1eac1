#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Times a Triton split sparse-MLA decode kernel over shapes and configurations, as our own kernels
are timed: L2 flushed by reading before every sample, random inputs, median, and writes the readings
as a run file that `smtwin validate --run` and `smtwin calibrate --run` take.

  time-triton-peer.py KERNELS.py -o run.json [--kernel NAME] [--gpu NAME] [--samples N] [--quick]

KERNELS.py must hold a @triton.jit function of the given name that takes (q, kv_fp8, kv_scales_u8,
kv_rope_bf16, indices, out, lse, scale, page_size, page_bytes, scale_offset, heads, topk,
tokens_per_split, BLOCK_H, BLOCK_T, NOPE, ROPE) on the DeepSeek-V4 cache layout and runs on the grid
(batch, head groups, splits). Needs torch and triton on the GPU's machine. Only the split kernel is
timed; whatever combines the splits is not part of it.
"""
import argparse
import datetime
import importlib.util
import json
import os
import sys
import tempfile

PAGE_TOKENS = 64
FP8_BYTES = 448
ROPE_DIM = 64
ROW_BYTES = FP8_BYTES + 2 * ROPE_DIM
SCALE_BYTES = 8
CONTEXT_TOKENS = 8192
HEAD_DIM = 512
FLUSH_BYTES = 512 << 20
CONFIGS = [(16, 16, 4, 2), (16, 16, 8, 2), (16, 32, 8, 2), (32, 16, 4, 2), (32, 16, 8, 2),
           (32, 32, 8, 2)]  # BLOCK_H, BLOCK_T, warps, stages


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("module")
    parser.add_argument("-o", "--out", required=True)
    parser.add_argument("--kernel", default="sparse_mla_decode_split_kernel")
    parser.add_argument("--gpu", default="", help="canonical name, such as h200-sxm")
    parser.add_argument("--samples", type=int, default=15)
    parser.add_argument("--quick", action="store_true", help="batches 1, 8, 64, 128 only")
    return parser.parse_args()


def load_kernel(path, name):
    spec = importlib.util.spec_from_file_location("peer_kernels", path)
    module = importlib.util.module_from_spec(spec)
    given, sys.argv = sys.argv, [path, tempfile.gettempdir(), "90"]
    try:
        spec.loader.exec_module(module)
    finally:
        sys.argv = given
    return getattr(module, name)


def split_count(batch, head_groups, topk, block_t, sms):
    """Doubles while the grid stays within two CTAs an SM and a split keeps two tiles."""
    splits = 1
    while batch * head_groups * splits * 2 <= 2 * sms and topk // (2 * splits) >= block_t:
        splits *= 2
    return splits


class Timer:
    def __init__(self, torch, samples):
        self.torch, self.samples = torch, samples
        self.flush = torch.randint(0, 100, (FLUSH_BYTES // 8,), dtype=torch.int64, device="cuda")

    def __call__(self, launch):
        torch = self.torch
        for _ in range(3):
            launch()
        times = []
        for _ in range(self.samples):
            self.flush.sum()
            begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            torch.cuda._sleep(200000)  # the launch below is queued before the GPU gets to it
            begin.record()
            launch()
            end.record()
            torch.cuda.synchronize()
            times.append(begin.elapsed_time(end) * 1e-3)
        times.sort()
        at = lambda share: times[min(len(times) - 1, int(share * len(times)))]
        return at(0.5), at(0.1), at(0.9)


def main():
    arguments = parse_arguments()
    import torch
    import triton
    kernel = load_kernel(arguments.module, arguments.kernel)
    timer = Timer(torch, arguments.samples)
    device = torch.cuda.get_device_properties(0)
    batches = (1, 8, 64, 128) if arguments.quick else (1, 2, 4, 8, 16, 32, 48, 64, 96, 128)

    pages = max(batches) * CONTEXT_TOKENS // PAGE_TOKENS
    page_bytes = PAGE_TOKENS * (ROW_BYTES + SCALE_BYTES)
    cache = torch.randint(0, 120, (pages, page_bytes), dtype=torch.uint8, device="cuda")
    cache[:, PAGE_TOKENS * ROW_BYTES:] = torch.randint(
        118, 123, (pages, PAGE_TOKENS * SCALE_BYTES), dtype=torch.uint8, device="cuda")
    rows = cache[:, :PAGE_TOKENS * ROW_BYTES].view(pages, PAGE_TOKENS, ROW_BYTES)
    rope = torch.randn(pages, PAGE_TOKENS, ROPE_DIM, dtype=torch.bfloat16, device="cuda")
    rows[:, :, FP8_BYTES:] = rope.view(torch.uint8).view(pages, PAGE_TOKENS, 2 * ROPE_DIM)
    flat = cache.view(-1)
    views = flat.view(torch.float8_e4m3fn), flat, flat.view(torch.bfloat16)

    times = []
    for heads in (16, 64):
        for topk in (512, 2048):
            for batch in batches:
                # Every sequence selects distinct tokens of a context of its own.
                order = torch.rand(batch, CONTEXT_TOKENS, device="cuda").argsort(1)[:, :topk]
                first = torch.arange(batch, device="cuda")[:, None] * CONTEXT_TOKENS
                index = (order + first).to(torch.int32).contiguous()
                q = torch.randn(batch, heads, HEAD_DIM, dtype=torch.bfloat16, device="cuda")
                for block_h, block_t, warps, stages in CONFIGS:
                    if block_h > max(16, heads):
                        continue
                    groups = -(-heads // block_h)
                    splits = split_count(batch, groups, topk, block_t, device.multi_processor_count)
                    out = torch.full((splits, batch, heads, HEAD_DIM), float("nan"),
                                     dtype=torch.bfloat16, device="cuda")
                    lse = torch.empty(splits, batch, heads, device="cuda")

                    def launch():
                        kernel[(batch, groups, splits)](
                            q, *views, index, out, lse, 0.05, PAGE_TOKENS, page_bytes,
                            PAGE_TOKENS * ROW_BYTES, heads, topk, -(-topk // splits),
                            BLOCK_H=block_h, BLOCK_T=block_t, NOPE=512, ROPE=64,
                            num_warps=warps, num_stages=stages)

                    try:
                        median, p10, p90 = timer(launch)
                    except triton.runtime.errors.OutOfResources as error:
                        print(f"# BH{block_h}/BT{block_t}/w{warps}: {error}", flush=True)
                        continue
                    if not bool(torch.isfinite(out).all()):
                        sys.exit(f"error: BH{block_h}/BT{block_t}/w{warps}: output not written")
                    times.append({
                        "kernel": "triton_sparse_mla_split", "peer": True,
                        "config": {"block_h": block_h, "block_t": block_t, "num_warps": warps,
                                   "num_stages": stages, "nsplit": splits},
                        "shape": {"batch": batch, "heads": heads, "topk": topk},
                        "cache": "cold", "launch": "stream", "seconds": median, "p10_s": p10,
                        "p90_s": p90, "samples": arguments.samples, "medians": 1,
                        "rejected": 0, "sm_clock_hz": 0, "power_w": 0, "relative_error": -1})
                    print(f"B{batch} H{heads} topk{topk} BH{block_h}/BT{block_t}/w{warps} "
                          f"split {splits}: {median * 1e6:.1f} us", flush=True)

    run = {
        "schema_version": 1,
        "gpu": {"name": arguments.gpu, "reported": device.name,
                "compute_capability": f"{device.major}.{device.minor}", "driver": "",
                "cuda_runtime": torch.version.cuda, "sm_count": device.multi_processor_count,
                "memory_bytes": device.total_memory, "l2_bytes": device.L2_cache_size,
                "sm_clock_max_hz": 0, "memory_clock_hz": 0, "power_limit_w": 0},
        "tool_version": "", "compiler": f"triton {triton.__version__}",
        "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "method": f"L2 flushed by reading {FLUSH_BYTES >> 20} MiB, event pair in a stream, median "
                  f"of {arguments.samples}; split kernel alone",
        "note": "", "seed": 0, "probes": [], "functions": [], "times": times}
    partial = arguments.out + ".partial"
    with open(partial, "w") as file:
        json.dump(run, file, indent=1)
        file.write("\n")
        file.flush()
        os.fsync(file.fileno())
    os.replace(partial, arguments.out)


if __name__ == "__main__":
    main()
