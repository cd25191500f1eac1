// SPDX-License-Identifier: Apache-2.0
// Tables of kernel times: which one a header is, where its cells go, and exact complaints about
// what cannot be meant. All rows here are invented.
#include "validate/measurements/measurement_reader.hpp"

#include <set>
#include <sstream>

#include "tests/catch.hpp"
#include "tests/validate/read_text_rows.hpp"

using namespace smtwin;
using test::complaint;
using test::read;

namespace {

const std::string kCommon = "framework,version,device,op_name,kernel_source,";
const std::string kGemmHeader = kCommon + "gemm_dtype,m,n,k,latency\n";
const std::string kModuleHeader =
    kCommon +
    "model,architecture,mla_dtype,kv_cache_dtype,gemm_type,num_heads,batch_size,isl,tp_size,step,"
    "compress_ratio,latency\n";

}  // namespace

TEST_CASE("a GEMM row", "[unit]") {
  const MeasurementSet set =
      read(kGemmHeader + "VLLM,0.1,NVIDIA H200,gemm,linear,fp8,16,2048,7168,0.25\n");
  REQUIRE(set.rows.size() == 1);
  const MeasurementRow& row = set.rows[0];
  CHECK(row.table == MeasurementTable::gemm);
  CHECK(row.framework == "VLLM");
  CHECK(row.version == "0.1");
  CHECK(row.device == "NVIDIA H200");
  CHECK(row.op_name == "gemm");
  CHECK(row.kernel_source == "linear");
  CHECK(row.dtype == "fp8");
  CHECK(row.m == 16);
  CHECK(row.n == 2048);
  CHECK(row.k == 7168);
  CHECK(row.latency_s == 0.25e-3);
  CHECK(row.line == 2);
  CHECK(set.where(row) == "t.csv:2");
}

TEST_CASE("an expert layer row", "[unit]") {
  const MeasurementSet set = read(
      "moe_dtype,num_tokens,hidden_size,inter_size,topk,num_experts,moe_tp_size,moe_ep_size,"
      "distribution,latency\nnvfp4,1,2,3,4,5,6,7,power_law_1.2,8\n");
  const MeasurementRow& row = set.rows.at(0);
  CHECK(row.table == MeasurementTable::moe);
  CHECK(row.dtype == "nvfp4");
  CHECK(row.num_tokens == 1);
  CHECK(row.hidden_size == 2);
  CHECK(row.inter_size == 3);
  CHECK(row.topk == 4);
  CHECK(row.num_experts == 5);
  CHECK(row.moe_tp_size == 6);
  CHECK(row.moe_ep_size == 7);
  CHECK(row.distribution == "power_law_1.2");
  CHECK(row.latency_s == 8e-3);
  CHECK(row.device.empty());
}

TEST_CASE("decode attention, with and without a window", "[unit]") {
  const std::string columns =
      "attn_dtype,kv_cache_dtype,batch_size,num_heads,num_key_value_heads,head_dim,step";
  const MeasurementSet plain = read(columns + ",latency\nbf16,fp8,1,32,8,128,0,1\n");
  const MeasurementRow& row = plain.rows.at(0);
  CHECK(row.table == MeasurementTable::generation_attention);
  CHECK(row.dtype == "bf16");
  CHECK(row.kv_dtype == "fp8");
  CHECK(row.batch_size == 1);
  CHECK(row.num_heads == 32);
  CHECK(row.num_key_value_heads == 8);
  CHECK(row.head_dim == 128);
  CHECK(row.step == 0);
  CHECK(row.window_size == 0);
  const MeasurementSet windowed = read(columns + ",window_size,latency\nb,f,1,32,8,128,9,1024,1\n");
  CHECK(windowed.rows.at(0).window_size == 1024);
}

TEST_CASE("latent attention: the operation of a row decides", "[unit]") {
  const MeasurementSet kernels =
      read(kCommon + "mla_dtype,kv_cache_dtype,num_heads,batch_size,isl,tp_size,step,latency\n" +
           "a,1,d,mla_generation,s,bf16,fp8,16,4,1,8,4096,1\na,1,d,,s,bf16,fp8,16,4,1,,4096,1\n");
  CHECK(kernels.rows.at(0).table == MeasurementTable::generation_mla);
  CHECK(kernels.rows[0].tp_size == 8);
  CHECK(kernels.rows[0].num_heads == 16);
  CHECK(kernels.rows[0].batch_size == 4);
  CHECK(kernels.rows[0].step == 4096);
  CHECK(kernels.rows.at(1).table == MeasurementTable::generation_mla);
  CHECK(kernels.rows[1].tp_size == 0);

  const auto module = [](const std::string& operation, const std::string& ratio) {
    return "a,1,d," + operation + ",s,org/model,Arch,bf16,fp8,fp8_block,64,4,1,1,4096," + ratio +
           ",1\n";
  };
  const MeasurementSet modules =
      read(kModuleHeader + module("mla_generation_module", "") +
           module("dsv4_csa_generation_module", "4") + module("dsv4_hca_generation_module", "128") +
           module("dsv4_hca_generation_module", "") + module("", "4") + module("", "128.0") +
           module("", ""));
  using enum MeasurementTable;
  const std::vector<MeasurementTable> wanted = {mla_module, dsv4_csa, dsv4_hca,  dsv4_hca,
                                                dsv4_csa,   dsv4_hca, mla_module};
  std::vector<MeasurementTable> found;
  for (const MeasurementRow& row : modules.rows) found.push_back(row.table);
  CHECK(found == wanted);
  CHECK(modules.rows.at(3).compress_ratio == 128);
  CHECK(modules.rows[0].model == "org/model");
  CHECK(modules.rows[0].gemm_type == "fp8_block");

  CHECK(complaint(kModuleHeader + module("dsv4_csa_generation_module", "128")) ==
        "t.csv:2: compress_ratio: expected 4 for dsv4_csa_generation_module_perf, found 128");
  CHECK(complaint(kModuleHeader + module("", "7")) ==
        "t.csv:2: compress_ratio: expected a blank cell for mla_generation_module_perf, found 7");
  CHECK(complaint(kModuleHeader + module("dsa_generation_module", "")) ==
        "t.csv:2: op_name: expected one of mla_generation, mla_generation_module, "
        "dsv4_csa_generation_module, dsv4_hca_generation_module, found \"dsa_generation_module\"");
}

TEST_CASE("small tables", "[unit]") {
  const MeasurementSet bmm =
      read("op_name,bmm_dtype,num_tokens,num_heads,latency\nmla_gen_post,bf16,2,128,1\n");
  CHECK(bmm.rows.at(0).table == MeasurementTable::mla_bmm);
  CHECK(bmm.rows[0].op_name == "mla_gen_post");
  CHECK(bmm.rows[0].num_tokens == 2);
  CHECK(bmm.rows[0].num_heads == 128);
  const MeasurementSet nccl =
      read("op_name,nccl_dtype,num_gpus,message_size,latency\nall_gather,half,2,256,1\n");
  CHECK(nccl.rows.at(0).table == MeasurementTable::nccl);
  CHECK(nccl.rows[0].num_gpus == 2);
  CHECK(nccl.rows[0].message_size == 256);
  for (const std::string column : {"backend", "implementation"}) {
    const MeasurementSet reduce =
        read("allreduce_dtype,num_gpus,message_size,latency," + column + "\nbf16,2,128,1,eager\n");
    CHECK(reduce.rows.at(0).table == MeasurementTable::custom_allreduce);
    CHECK(reduce.rows[0].backend == "eager");
  }
  const MeasurementSet scale = read("m,k,quant_dtype,latency\n3,65536,fp8,1e-5\n");
  CHECK(scale.rows.at(0).table == MeasurementTable::compute_scale);
  CHECK(scale.rows[0].m == 3);
  CHECK(scale.rows[0].k == 65536);
}

TEST_CASE("each table has a name of its own", "[unit]") {
  std::set<std::string_view> names;
  for (int i = 0; i < kMeasurementTableCount; ++i) {
    names.insert(to_string(static_cast<MeasurementTable>(i)));
  }
  CHECK(names.size() == kMeasurementTableCount);
  CHECK(to_string(MeasurementTable::gemm) == "gemm_perf");
  CHECK(to_string(MeasurementTable::dsv4_hca) == "dsv4_hca_generation_module_perf");
  CHECK(to_string(MeasurementTable::compute_scale) == "computescale_perf");
}

TEST_CASE("columns in any order, quoting, line ends, a byte order mark", "[unit]") {
  const MeasurementSet set = read(
      "\xEF\xBB\xBFnote,latency,\"k\",n,m,gemm_dtype,kernel_source\r\n"
      "\"one, \"\"two\"\"\r\nthree\",1.5,1e3,16.0,+4,\"fp8\",\"a, b\"\r\n"
      "\r\n"
      " , 2 , 3 , 4 , 5 , fp8 ,\r\n"
      ",2,3,4,5,fp8,last");
  REQUIRE(set.rows.size() == 3);
  CHECK(set.rows[0].kernel_source == "a, b");
  CHECK(set.rows[0].k == 1000);
  CHECK(set.rows[0].n == 16);
  CHECK(set.rows[0].m == 4);
  CHECK(set.rows[0].latency_s == 1.5e-3);
  CHECK(set.rows[0].line == 2);
  CHECK(set.rows[1].line == 5);
  CHECK(set.rows[1].dtype == "fp8");
  CHECK(set.rows[1].kernel_source.empty());
  CHECK(set.rows[2].line == 6);
  CHECK(set.rows[2].kernel_source == "last");
}

TEST_CASE("a header alone is a table without rows", "[unit]") {
  CHECK(read(kGemmHeader).rows.empty());
  CHECK(read(kGemmHeader).files == std::vector<std::string>{"t.csv"});
}

TEST_CASE("views survive moves, equal texts are one", "[unit]") {
  MeasurementSet first = read(kGemmHeader + "a,1,d,gemm,short,fp8,1,1,1,1\n" +
                              "a,1,d,gemm,a name too long for the small buffer,fp8,1,1,1,1\n" +
                              "a,1,d,gemm,short,fp8,1,1,1,1\n");
  CHECK(first.rows[0].kernel_source.data() == first.rows[2].kernel_source.data());
  MeasurementSet second(std::move(first));
  MeasurementSet third;
  third = std::move(second);
  std::istringstream more(kGemmHeader + "b,2,d,gemm,short,fp8,1,1,1,1\n");
  read_measurements(more, "more.csv", third);
  CHECK(third.rows[0].kernel_source == "short");
  CHECK(third.rows[1].kernel_source == "a name too long for the small buffer");
  CHECK(third.rows[3].kernel_source.data() == third.rows[0].kernel_source.data());
  CHECK(third.where(third.rows[3]) == "more.csv:2");
}

TEST_CASE("many texts of one column are kept apart", "[unit]") {
  std::string text = kGemmHeader;
  for (int i = 0; i < 1000; ++i) {
    text += "a,1,d,gemm,kernel" + std::to_string(i % 37) + ",fp8,1,1,1,1\n";
  }
  const MeasurementSet set = read(text);
  REQUIRE(set.rows.size() == 1000);
  std::set<const char*> kept;
  for (std::size_t i = 0; i < set.rows.size(); ++i) {
    CHECK(set.rows[i].kernel_source == "kernel" + std::to_string(i % 37));
    kept.insert(set.rows[i].kernel_source.data());
  }
  CHECK(kept.size() == 37);
}

TEST_CASE("tables that are not known, or not whole", "[unit]") {
  CHECK(complaint("a,b\n1,2\n") ==
        "t.csv: no table of kernel times that is known, found columns a, b; expected one of "
        "gemm_dtype (gemm_perf), moe_dtype (moe_perf), num_key_value_heads "
        "(generation_attention_perf), mla_dtype (generation_mla_perf and its modules), bmm_dtype "
        "(mla_bmm_perf), allreduce_dtype (custom_allreduce_perf), nccl_dtype (nccl_perf), "
        "quant_dtype (computescale_perf)");
  CHECK(complaint("gemm_dtype,n\nfp8,2\n") ==
        "t.csv: missing columns m, k, latency; the file has gemm_dtype, n");
  CHECK(complaint("mla_dtype,compress_ratio,kv_cache_dtype,num_heads,batch_size,step,latency\n") ==
        "t.csv: missing columns model, gemm_type; the file has mla_dtype, compress_ratio, "
        "kv_cache_dtype, num_heads, batch_size, step, latency");
  CHECK(complaint("gemm_dtype,moe_dtype,m,n,k,latency\n") ==
        "t.csv: has columns of gemm_perf and of moe_perf; expected one table a file");
  CHECK(complaint("") == "t.csv: no header line; expected a table with column names first");
  CHECK(complaint(std::string("PAR1\x15\0\x15", 7)).find("Parquet") != std::string::npos);
  CHECK(complaint("version https://git-lfs.github.com/spec/v1\noid sha256:12\nsize 3\n") ==
        "t.csv: a Git LFS pointer, not the file itself; fetch it with git lfs pull");
}

TEST_CASE("tables that look alike and time something else", "[unit]") {
  CHECK(complaint("op_name,attn_dtype,kv_cache_dtype,batch_size,num_heads,num_key_value_heads,"
                  "head_dim,step,latency\ncontext_attention,b,f,1,8,8,128,0,1\n") ==
        "t.csv:2: op_name: expected generation_attention, found \"context_attention\"");
  CHECK(complaint("op_name,m,k,quant_dtype,latency\nscale_matrix,1,1,fp8,1\n") ==
        "t.csv:2: op_name: expected compute_scale, found \"scale_matrix\"");
}
