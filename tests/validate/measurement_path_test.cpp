// SPDX-License-Identifier: Apache-2.0
// Files and folders of tables: which files count, in which order, and what is said of the rest.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>

#include "arch/error.hpp"
#include "tests/catch.hpp"
#include "validate/measurements/measurement_reader.hpp"

using namespace smtwin;

namespace {

class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "smtwin-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder");
    path_ = name;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  std::string path() const { return path_.string(); }
  void write(const std::string& name, const std::string& text) const {
    std::filesystem::create_directories((path_ / name).parent_path());
    std::ofstream(path_ / name, std::ios::binary) << text;
  }

 private:
  std::filesystem::path path_;
};

}  // namespace

TEST_CASE("a folder is searched for tables, in the order of their paths", "[unit]") {
  const TemporaryFolder folder;
  folder.write("b.csv", "gemm_dtype,m,n,k,latency\nfp8,2,1,1,1\n");
  folder.write("a/z/gemm_perf.txt", "gemm_dtype,m,n,k,latency\nfp8,1,1,1,1\n");
  folder.write("c/nccl.csv", "op_name,nccl_dtype,num_gpus,message_size,latency\nr,half,2,8,1\n");
  folder.write("README.txt", "no table");
  folder.write("notes.md", "no table");
  MeasurementSet set;
  read_measurement_path(folder.path(), set);
  REQUIRE(set.rows.size() == 3);
  CHECK(set.files == std::vector<std::string>{folder.path() + "/a/z/gemm_perf.txt",
                                              folder.path() + "/b.csv",
                                              folder.path() + "/c/nccl.csv"});
  CHECK(set.rows[0].m == 1);
  CHECK(set.rows[1].m == 2);
  CHECK(set.rows[2].table == MeasurementTable::nccl);
  CHECK(set.where(set.rows[1]) == folder.path() + "/b.csv:2");

  MeasurementSet one;
  read_measurement_path(folder.path() + "/b.csv", one);
  CHECK(one.rows.size() == 1);
}

TEST_CASE("paths without a table", "[unit]") {
  const TemporaryFolder folder;
  MeasurementSet set;
  const auto path_complaint = [&](const std::string& path) -> std::string {
    try {
      read_measurement_path(path, set);
    } catch (const DataError& error) {
      return error.what();
    }
    return "";
  };
  CHECK(path_complaint(folder.path()) ==
        folder.path() + ": no *.csv or *_perf.txt below this folder");
  folder.write("gemm_perf.parquet", "PAR1");
  CHECK(path_complaint(folder.path()) ==
        folder.path() +
            ": no *.csv or *_perf.txt below this folder; convert its 1 Parquet files to CSV first");
  CHECK(path_complaint(folder.path() + "/none.csv") ==
        folder.path() + "/none.csv: no such file or folder; expected a table of kernel times");
  CHECK(path_complaint("").find("no such file") != std::string::npos);
  folder.write("other.csv", "a,b\n1,2\n");
  CHECK(path_complaint(folder.path()).starts_with(folder.path() + "/other.csv: no table"));
  std::ifstream not_a_file(folder.path());
  CHECK_THROWS_AS(read_measurements(not_a_file, folder.path(), set), DataError);
}
