// SPDX-License-Identifier: Apache-2.0
// A number nobody knows is refused by name, with the way to supply it.
#include "arch/gpu_spec.hpp"

#include "arch/error.hpp"
#include "tests/arch/gpu_test_files.hpp"
#include "tests/catch.hpp"

using namespace smtwin;
using smtwin::test::message_of;

TEST_CASE("require gives the value or names the field", "[unit]") {
  GpuSpec gpu;
  gpu.name = "invented";
  gpu.sm_count = 7;
  CHECK(require(gpu, gpu.sm_count, "sm_count") == 7);
  CHECK(message_of<DataError>([&] { require(gpu, gpu.l2_bytes, "l2_bytes"); }) ==
        "invented: l2_bytes is not known for this GPU; give it with --set l2_bytes=VALUE");
}

TEST_CASE("architecture names", "[unit]") {
  CHECK(architecture_name({12, 0}) == "sm_120");
  CHECK(architecture_name({8, 9}) == "sm_89");
  CHECK(ComputeCapability{9, 0} < ComputeCapability{10, 0});
}
