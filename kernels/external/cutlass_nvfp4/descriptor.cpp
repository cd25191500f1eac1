// SPDX-License-Identifier: Apache-2.0
#include "kernels/external/cutlass_nvfp4/descriptor.hpp"

#include <algorithm>
#include <array>
#include <charconv>

#include "arch/error.hpp"
#include "arch/units.hpp"
#include "kernels/external/cutlass_nvfp4/field_notes_outcomes.hpp"
#include "kernels/external/cutlass_nvfp4/storage.hpp"
#include "kernels/parameter_specs.hpp"
#include "kernels/text.hpp"
#include "kernels/triton_compiler.hpp"

namespace smtwin {
namespace {

constexpr std::int64_t kMaxSide = std::int64_t{1} << 26;
constexpr std::int32_t kThreads = 384;  // compiled, every tile
constexpr double kWarps = kThreads / 32;
constexpr double kMmaWarpsM = 4, kMmaWarpsN = 2;  // eight consumer warps, assumed 4 x 2
constexpr std::int32_t kRegisters = 168;  // what 384 threads can have of 65,536, in steps of 8
constexpr std::int64_t kMaxOutputs = 128 * 256;  // accumulators of eight warps, 128 a thread
constexpr double kElementBytes = 0.5;
constexpr double kScaleBytesPerElement = 1.0 / 16;
constexpr double kOutputBytes = 2;
constexpr double kMmaOutputs = 16 * 8, kMmaDepth = 64;  // mma.sync m16n8k64
constexpr double kLanes = 32;
constexpr std::array<std::int64_t, 3> kTileM = {64, 128, 256};
constexpr std::array<std::int64_t, 4> kTileN = {32, 64, 128, 256};
constexpr std::array<std::int64_t, 4> kTileK = {64, 128, 256, 512};

struct Problem {
  std::int64_t m, n, k, groups;
};

template <std::size_t N>
bool contains(const std::array<std::int64_t, N>& values, std::int64_t value) {
  return std::find(values.begin(), values.end(), value) != values.end();
}

template <std::size_t N>
std::string listed(const char* name, const std::array<std::int64_t, N>& values) {
  std::string text = name;
  for (std::size_t i = 0; i < N; ++i) text += (i == 0 ? " " : ", ") + std::to_string(values[i]);
  return text;
}

// Row tiles over all groups, each group padded on its own; rows are shared evenly.
std::int64_t row_tiles(const Problem& problem, std::int64_t tile_m) {
  const auto groups = std::min(problem.groups, problem.m);
  const auto each = problem.m / groups;
  const auto larger = problem.m % groups;
  return larger * ceil_div(each + 1, tile_m) + (groups - larger) * ceil_div(each, tile_m);
}

CtaWork cta_work(const Problem& problem, const CutlassTile& tile, const CutlassStorage& storage,
                 std::int64_t tiles_m, std::int64_t tiles_n) {
  const double m = static_cast<double>(tile.m), n = static_cast<double>(tile.n),
               k = static_cast<double>(tile.k);
  const double rows = static_cast<double>(problem.m) / static_cast<double>(tiles_m);
  const double columns = static_cast<double>(problem.n) / static_cast<double>(tiles_n);
  const double steps = static_cast<double>(ceil_div(problem.k, tile.k));
  const double stage = static_cast<double>(storage.stage_bytes);
  const double scales = stage - (m + n) * k * kElementBytes;
  const double reads = (m * kMmaWarpsN + n * kMmaWarpsM) * k * kElementBytes + scales * kMmaWarpsN;

  CtaWork work;
  work.global_read_bytes =
      (rows + columns) * static_cast<double>(problem.k) * (kElementBytes + kScaleBytesPerElement);
  work.global_write_bytes = rows * columns * kOutputBytes;
  work.shared_bytes = steps * (stage + reads) + 2 * m * n * kOutputBytes;
  work.math_flops = steps * kFlopsPerFma * m * n * k;
  work.fp32_flops = m * n;  // the output scale
  work.warp_instructions = steps * (m * n / kMmaOutputs * k / kMmaDepth + copy_instructions(reads) +
                                    kWarps * kLoopInstructionsPerWarpStep) +
                           2 * m * n / kLanes;
  work.steps = steps;
  work.step_read_bytes = work.global_read_bytes / steps;
  work.loads_in_flight = static_cast<double>(std::max<std::int64_t>(storage.stages - 1, 1));
  return work;
}

std::string tile_problem(const CutlassTile& tile, const GpuSpec& gpu) {
  const ComputeCapability cc = gpu.compute_capability;
  if (cc.major != 12) {
    return "this kernel is built for sm_120 and sm_121 (block-scaled mma.sync); " +
           architecture_name(cc) +
           (cc.major == 10 || cc.major == 11 ? " runs FP4 through tcgen05 in other kernels"
                                             : " has no FP4 tensor instruction");
  }
  if (!contains(kTileM, tile.m) || !contains(kTileN, tile.n) || !contains(kTileK, tile.k)) {
    return "tile " + std::to_string(tile.m) + "x" + std::to_string(tile.n) + "x" +
           std::to_string(tile.k) + " is not in the family: " + listed("tile_m", kTileM) + "; " +
           listed("tile_n", kTileN) + "; " + listed("tile_k", kTileK);
  }
  if (tile.m * tile.n > kMaxOutputs) {
    return "a " + std::to_string(tile.m) + " x " + std::to_string(tile.n) +
           " output tile needs more than 128 accumulators in each of 256 threads";
  }
  return "";
}

class CutlassNvfp4 final : public KernelDescriptor {
 public:
  std::string name() const override { return "cutlass_nvfp4"; }
  std::string summary() const override {
    return "CUTLASS NVFP4 block-scaled GEMM of SM120, dense or grouped";
  }

  std::vector<std::string> sources() const override {
    return {"shared storage: CUTLASS main of August 2026 compiled for sm_120a, ten tiles",
            "estimate and outcomes of earlier versions: field notes of production use",
            "grouped kernels fail at initialization: NVIDIA/cutlass#3096, NVIDIA/cutlass#3144"};
  }

  std::vector<ParameterSpec> parameters() const override {
    constexpr ValueRange kSide{1, kMaxSide};
    constexpr auto target = ParameterRole::target;
    return {
        shape_parameter("m", "rows of A, over all groups", 128, kSide),
        shape_parameter("n", "columns of B (of each group)", 4096, kSide),
        shape_parameter("k", "elements of K", 4096, kSide),
        shape_parameter("grouped", "1: grouped kernel, one GEMM an expert", 0, {0, 1}),
        shape_parameter("groups", "experts that get rows; m is shared evenly", 1, {1, 65536}),
        config_parameter("tile_m", "rows of a CTA's tile", 128, {1, 1024}, "TM", {64, 128, 256}),
        config_parameter("tile_n", "columns of a CTA's tile", 128, {1, 1024}, "TN", {64, 128, 256}),
        config_parameter("tile_k", "elements of K a stage (kernel names give bytes: half of it)",
                         128, {16, 2048}, "TK", {128, 256}),
        config_parameter("stages", "pipeline stages; 0 = as many as fit", 0, {0, 16}, "s", {}),
        choice_parameter("library",
                         "current: CUTLASS of August 2026; fieldnotes: the earlier estimate",
                         target, {"current", "fieldnotes"}),
        choice_parameter("epilogue",
                         "output staging; library: slice if current, whole if fieldnotes", target,
                         {"library", "slice", "whole"}),
        target_parameter("finalize", "1: fused finalize epilogue, twice the whole-tile staging", 0,
                         {0, 1}),
        target_parameter("min_stages",
                         "stages the pipeline needs; 0 = 2 if current, 1 if fieldnotes", 0,
                         {0, 16}),
    };
  }

  std::string compact_config(const Parameters& parameters) const override {
    std::string text = std::to_string(parameters.at("tile_m")) + "x" +
                       std::to_string(parameters.at("tile_n")) + "x" +
                       std::to_string(parameters.at("tile_k"));
    const auto stages = parameters.at("stages");
    if (stages != 0) text += "/s" + std::to_string(stages);
    return text;
  }

  // "128x128x256", or "128x128x256B" with K in bytes of packed FP4 as kernel names give it.
  Parameters parse_config_word(const std::string& word) const override {
    std::array<std::int64_t, 3> sides{};
    const char* at = word.data();
    const char* const end = at + word.size();
    for (std::size_t i = 0; i < sides.size(); ++i) {
      if (i > 0 && (at == end || (*at != 'x' && *at != 'X'))) return {};
      if (i > 0) ++at;
      const auto [stop, error] = std::from_chars(at, end, sides[i]);
      if (error != std::errc{} || sides[i] < 0) return {};
      at = stop;
    }
    const bool bytes = at + 1 == end && (*at == 'B' || *at == 'b');
    if (at != end && !bytes) return {};
    if (bytes) sides[2] = saturating_mul(sides[2], 2);
    return {{"tile_m", sides[0]}, {"tile_n", sides[1]}, {"tile_k", sides[2]}};
  }

  KernelInstance instantiate(const Parameters& parameters, const GpuSpec& gpu) const override {
    const CutlassTile tile{parameters.at("tile_m"), parameters.at("tile_n"),
                           parameters.at("tile_k")};
    const Problem problem{parameters.at("m"), parameters.at("n"), parameters.at("k"),
                          parameters.at("groups")};
    const CutlassStorageOptions options = storage_options(parameters, gpu);
    if (problem.groups > 1 && !options.grouped) {
      throw UsageError("groups: found " + std::to_string(problem.groups) +
                       " for a dense kernel; set grouped=1 or groups=1");
    }
    const CutlassStorage storage = cutlass_storage(tile, options);
    const auto tiles_m = row_tiles(problem, tile.m);
    const auto tiles_n = ceil_div(problem.n, tile.n);

    KernelInstance instance;
    instance.kernel = name();
    instance.config = compact_config(parameters);
    instance.resources.threads_per_cta = kThreads;
    instance.resources.registers_per_thread = kRegisters;
    instance.resources.dynamic_shared_bytes = storage.total_bytes;
    instance.shared_provenance = shared_provenance(parameters, tile, options);
    instance.shared_formula = storage.formula;
    instance.registers_source =
        "assumed: the most that 384 threads can have when one CTA fills the register file";
    instance.grid = {
        tiles_m * tiles_n, 1, 1,
        std::to_string(tiles_m) + " row tiles x " + std::to_string(tiles_n) + " column tiles"};
    instance.work = cta_work(problem, tile, storage, tiles_m, tiles_n);
    instance.pipe = MathPipe::nvfp4;
    add_totals(instance, problem);
    add_facts(instance, storage, tiles_m);
    add_assumptions(instance, tile, options, storage);
    instance.impossible = tile_problem(tile, gpu);
    return instance;
  }

 private:
  static CutlassStorageOptions storage_options(const Parameters& parameters, const GpuSpec& gpu) {
    CutlassStorageOptions options;
    const bool current = parameters.at("library") == 0;
    const auto epilogue = parameters.at("epilogue");
    const bool slice = epilogue == 0 ? current : epilogue == 1;
    const auto min_stages = parameters.at("min_stages");
    options.version = current ? CutlassVersion::current : CutlassVersion::fieldnotes;
    options.epilogue = slice ? CutlassEpilogue::slice : CutlassEpilogue::whole_tile;
    options.grouped = parameters.at("grouped") == 1;
    options.finalize = parameters.at("finalize") == 1;
    options.stages = parameters.at("stages");
    options.min_stages = min_stages > 0 ? min_stages : (current ? 2 : 1);
    options.limit_bytes = gpu.sm.shared_bytes_per_cta_optin;
    return options;
  }

  static Provenance shared_provenance(const Parameters& parameters, const CutlassTile& tile,
                                      const CutlassStorageOptions& options) {
    if (options.version == CutlassVersion::fieldnotes) return Provenance::assumed;
    const bool compiled = options.epilogue == CutlassEpilogue::slice && !options.finalize &&
                          options.stages == 0 && parameters.at("min_stages") == 0 && tile.n >= 64 &&
                          (tile.k == 128 || tile.k == 256);
    return compiled ? Provenance::compiled : Provenance::extrapolated;
  }

  static void add_totals(KernelInstance& instance, const Problem& problem) {
    const double m = static_cast<double>(problem.m), n = static_cast<double>(problem.n),
                 k = static_cast<double>(problem.k);
    const double groups = static_cast<double>(std::min(problem.groups, problem.m));
    instance.useful_flops = kFlopsPerFma * m * n * k;
    instance.unique_read_bytes = (m + groups * n) * k * (kElementBytes + kScaleBytesPerElement);
    instance.unique_write_bytes = m * n * kOutputBytes;
  }

  static void add_facts(KernelInstance& instance, const CutlassStorage& storage,
                        std::int64_t tiles_m) {
    const double issued = instance.work.math_flops * static_cast<double>(instance.grid.ctas());
    instance.facts = {
        {"stages", static_cast<double>(storage.stages), "", "pipeline stages"},
        {"stage_bytes", static_cast<double>(storage.stage_bytes), "B",
         "A, B and their scales in one stage"},
        {"mainloop_shared_bytes", static_cast<double>(storage.mainloop_bytes), "B",
         "all stages with alignment"},
        {"epilogue_shared_bytes", static_cast<double>(storage.epilogue_bytes), "B",
         "staging of the output"},
        {"row_tiles", static_cast<double>(tiles_m), "", "tiles of tile_m rows over all groups"},
        {"k_steps", instance.work.steps, "", "pipeline steps of a tile"},
        {"useful_share", instance.useful_flops / issued, "",
         "useful multiply-adds / issued ones, padded rows included"}};
  }

  static void add_assumptions(KernelInstance& instance, const CutlassTile& tile,
                              const CutlassStorageOptions& options, const CutlassStorage& storage) {
    auto& sentences = instance.assumptions;
    const bool current = options.version == CutlassVersion::current;
    if (options.stages == 0) {
      sentences.push_back(current ? "As many stages as fit the chip's opt-in limit, at least " +
                                        std::to_string(options.min_stages) + "."
                                  : "The estimate takes the least stages the pipeline needs: " +
                                        std::to_string(storage.stages) + ".");
    }
    if (current && options.finalize && options.epilogue == CutlassEpilogue::slice) {
      sentences.push_back(
          "The fused finalize epilogue is assumed to stage the same slice; it "
          "was not compiled.");
    }
    sentences.push_back(
        "Persistent CTAs walk over the tiles; each tile is counted as one CTA, "
        "which fills the same waves.");
    sentences.push_back(
        "Eight consumer warps are assumed to share a tile 4 x 2, so A is read "
        "twice and B four times from shared memory.");
    if (options.grouped) {
      sentences.push_back("Rows are shared evenly over the groups, each padded to tile_m.");
      if (storage.total_bytes > options.limit_bytes) {
        sentences.push_back(
            "The grouped kernel does not check its shared storage: can_implement "
            "passes and initialization returns a generic internal error; these "
            "bytes are the cause.");
      }
    }
    if (options.grouped || !current) {
      for (auto& sentence : outcome_sentences(tile, options.finalize, options.limit_bytes)) {
        sentences.push_back(std::move(sentence));
      }
    }
  }
};

}  // namespace

std::unique_ptr<KernelDescriptor> make_cutlass_nvfp4() { return std::make_unique<CutlassNvfp4>(); }

}  // namespace smtwin
