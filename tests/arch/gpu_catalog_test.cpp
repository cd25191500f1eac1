// SPDX-License-Identifier: Apache-2.0
// Finding a GPU by the spellings people paste, and telling them what is near when there is none.
#include "arch/gpu_catalog.hpp"

#include <cctype>
#include <cstdlib>
#include <map>
#include <set>

#include "arch/error.hpp"
#include "arch/gpu_labels.hpp"
#include "arch/gpu_spec_io.hpp"
#include "tests/arch/gpu_test_files.hpp"
#include "tests/catch.hpp"

using namespace smtwin;
using smtwin::test::message_of;
using smtwin::test::shipped_file;

namespace {

std::string found(const std::string& text) {
  return message_of<UsageError>([&] { throw UsageError(find_gpu(text).name); });
}

// Sets an environment variable for the length of a test.
class Environment {
 public:
  Environment(const char* name, const char* value) : name_(name) {
    if (const char* old = std::getenv(name)) old_ = old;
    if (value == nullptr) {
      unsetenv(name);
    } else {
      setenv(name, value, 1);
    }
  }
  ~Environment() { setenv(name_, old_.c_str(), 1); }
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;

 private:
  const char* name_;
  std::string old_;
};

}  // namespace

TEST_CASE("every GPU answers to its name, display name and aliases", "[unit]") {
  for (const std::string& name : gpu_names()) {
    const GpuSpec gpu = find_gpu(name);
    CHECK(gpu.name == name);
    CHECK(gpu.file.ends_with("gpus/" + name + ".json"));
    CHECK(found(gpu.display_name) == name);
    for (const std::string& alias : gpu.aliases) {
      INFO(alias);
      CHECK(found(alias) == name);
    }
  }
}

TEST_CASE("spellings that users and drivers have", "[unit]") {
  const std::map<std::string, std::string> names{
      {"NVIDIA RTX PRO 6000 Blackwell Server Edition", "rtx-pro-6000-server"},
      {"nvidia rtx pro 6000 blackwell server edition", "rtx-pro-6000-server"},
      {"NVIDIA RTX PRO 6000 Blackwell Workstation Edition", "rtx-pro-6000-workstation"},
      {"NVIDIA RTX PRO 6000 Blackwell Max-Q Workstation Edition", "rtx-pro-6000-max-q"},
      {"NVIDIA_RTX_PRO_6000_Blackwell_Server_Edition", "rtx-pro-6000-server"},
      {"rtx_pro_6000_server", "rtx-pro-6000-server"},
      {"RTX PRO 6000 Server", "rtx-pro-6000-server"},
      {"NVIDIA GeForce RTX 5090", "rtx-5090"},
      {"GeForce RTX 5090", "rtx-5090"},
      {"5090", "rtx-5090"},
      {"rtx5090", "rtx-5090"},
      {"RTX 5060 Ti", "rtx-5060-ti"},
      {"NVIDIA GB10", "gb10"},
      {"DGX Spark", "gb10"},
      {"h200_sxm", "h200-sxm"},
      {"NVIDIA H200", "h200-sxm"},
      {"H200", "h200-sxm"},
      {"NVIDIA H100 80GB HBM3", "h100-sxm"},
      {"NVIDIA A100-SXM4-80GB", "a100-80gb-sxm"},
      {"NVIDIA B200", "b200-sxm"},
      {"NVIDIA B300 SXM6 AC", "b300-sxm"},
      {"Tesla T4", "t4"},
      {"Tesla V100-SXM2-32GB", "v100-sxm"},
      {"NVIDIA L40S", "l40s"},
      {"sm_120", "sm-120"},
      {"SM120", "sm-120"},
      {"sm_120a", "sm-120"},
      {"compute_90", "sm-90"},
      {"12.0", "sm-120"},
      {"8.6", "sm-86"}};
  for (const auto& [text, name] : names) {
    INFO(text);
    CHECK(found(text) == name);
  }
}

TEST_CASE("a path is a file", "[unit]") {
  CHECK(find_gpu(shipped_file("gb10")).name == "gb10");
  CHECK(message_of<DataError>([] { find_gpu("my-gpu.json"); }) ==
        "my-gpu.json: cannot be read; check the path and its permissions");
}

TEST_CASE("what fits several or none is told with names", "[unit]") {
  CHECK(found("RTX PRO 6000") ==
        "gpu \"RTX PRO 6000\" fits more than one: rtx-pro-6000-max-q, rtx-pro-6000-server, "
        "rtx-pro-6000-workstation; name one of them");
  CHECK(found("rtx6000") ==
        "unknown gpu \"rtx6000\"; did you mean rtx-pro-6000-server, rtx-pro-6000-workstation, "
        "rtx-pro-6000-max-q? (smtwin gpus lists all)");
  CHECK(found("h20") == "unknown gpu \"h20\"; did you mean h200-sxm? (smtwin gpus lists all)");
  CHECK(found("rtx-pro-6000-serverr").find("did you mean rtx-pro-6000-server") !=
        std::string::npos);
  CHECK(found("foo") == "unknown gpu \"foo\"; smtwin gpus lists all");
  CHECK(found("") == "unknown gpu \"\"; smtwin gpus lists all");
  // Other products than the shipped ones are not taken for them.
  for (const char* other : {"NVIDIA GeForce RTX 5090 Laptop GPU", "NVIDIA H100 PCIe", "NVIDIA L40",
                            "RTX 6000 Ada", "Tesla V100-SXM2-16GB", "NVIDIA H200 NVL", "GB300",
                            "server", "80GB", "Max-Q", "NVIDIA", "sm_13"}) {
    INFO(other);
    CHECK(found(other).find("unknown gpu ") == 0);
  }
  const std::string rubbish = found("\n\t" + std::string(5000, 'x') + "9");
  CHECK(rubbish.find('\n') == std::string::npos);
  CHECK(rubbish.size() < 300);
}

TEST_CASE("no spelling belongs to two GPUs", "[unit]") {
  std::map<std::string, std::string> owner;
  for (const std::string& name : gpu_names()) {
    const GpuSpec gpu = find_gpu(name);
    std::set<std::string> keys;
    std::vector<std::string> labels = gpu.aliases;
    labels.push_back(gpu.name);
    labels.push_back(gpu.display_name);
    for (const std::string& label : labels) {
      std::string key;
      for (const char c : label) {
        if (std::isalnum(static_cast<unsigned char>(c)) != 0) {
          key += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
        }
      }
      keys.insert(key);
    }
    for (const std::string& key : keys) {
      INFO(key);
      CHECK(owner.emplace(key, name).second);
    }
  }
}

TEST_CASE("labels are read as far as a file is JSON, and only from its head", "[unit]") {
  using Labels = std::vector<std::string>;
  CHECK(read_gpu_labels(R"({"name": "a", "aliases": ["b", "c"], "sm": {"name": "d"}})") ==
        Labels{"a", "b", "c"});
  CHECK(read_gpu_labels(R"({"display_name": "e", "notes": ["f"], "aliases": ["g)") == Labels{"e"});
  CHECK(read_gpu_labels("").empty());
  CHECK(read_gpu_labels("[[\"name\"]]").empty());
}

TEST_CASE("products come first, then compute capabilities in order", "[unit]") {
  const std::vector<std::string> names = gpu_names();
  const auto first_generic = std::find(names.begin(), names.end(), "sm-35");
  REQUIRE(first_generic != names.end());
  CHECK(std::none_of(names.begin(), first_generic,
                     [](const std::string& name) { return name.starts_with("sm-"); }));
  CHECK(std::all_of(first_generic, names.end(),
                    [](const std::string& name) { return name.starts_with("sm-"); }));
  CHECK(*(first_generic + 1) == "sm-37");
  CHECK(names.back() == "sm-121");
}

TEST_CASE("the data folder", "[unit]") {
  {
    const std::string folder = std::string(SMTWIN_TEST_SOURCE_DIR) + "/data";
    const Environment chosen("SMTWIN_DATA", folder.c_str());
    CHECK(data_directory() == folder);
  }
  {
    const Environment wrong("SMTWIN_DATA", "/no/such/folder");
    CHECK(message_of<DataError>([] { data_directory(); }) ==
          "SMTWIN_DATA=/no/such/folder: no folder with gpus/ in it; name smtwin's data folder or "
          "unset it");
  }
  {
    // Unset: beside this program or in the source tree, in any case one that has the files.
    const Environment unset("SMTWIN_DATA", nullptr);
    CHECK(std::filesystem::is_regular_file(data_directory() + "/gpus/h200-sxm.json"));
  }
}
