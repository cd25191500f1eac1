// SPDX-License-Identifier: Apache-2.0
// The cubins of a Triton cache, where one lies beside the checkout (or in $SMTWIN_SHARED), against
// what Triton wrote down beside each of them. They come from another ptxas than the fixture's.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/catch.hpp"
#include "validate/observations/cubin.hpp"

namespace {

namespace fs = std::filesystem;

fs::path cache_folder() {
  const char* folder = std::getenv("SMTWIN_SHARED");
  return fs::path(folder != nullptr ? folder : SMTWIN_TEST_SOURCE_DIR "/../shared") /
         "compiled/triton-cache";
}

}  // namespace

TEST_CASE("Triton's cubins are what Triton says of them", "[oracle]") {
  using namespace smtwin;
  const fs::path folder = cache_folder();
  if (!fs::exists(folder)) {
    smtwin::test::skip("no Triton cache at " + folder.string());
    return;
  }
  int cubins = 0;
  int spilling = 0;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.path().extension() != ".cubin") continue;
    ++cubins;
    INFO(entry.path().string());
    std::ifstream beside(fs::path(entry.path()).replace_extension(".json"));
    const auto said = nlohmann::json::parse(beside);
    const auto file = read_binary_file(entry.path().string());
    const Cubin cubin = read_cubin(file, entry.path().string());
    CHECK(10 * cubin.target.major + cubin.target.minor == said.at("target").at("arch"));
    REQUIRE(cubin.kernels.size() == 1);
    const CubinKernel& kernel = cubin.kernels[0];
    CHECK(kernel.symbol == said.at("name"));
    CHECK(kernel.max_threads_per_cta == 32 * said.at("num_warps").get<int>());
    CHECK(kernel.static_shared_bytes == 0);  // Triton asks for all of it at launch
    CHECK(kernel.barriers > 0);
    CHECK(kernel.count("mma") + kernel.count("wgmma") > 0);
    CHECK((kernel.spill_stores() > 0) == (kernel.stack_bytes > 0));
    if (kernel.stack_bytes > 0) ++spilling;
  }
  CHECK(cubins == 8);
  CHECK(spilling == 6);
}
