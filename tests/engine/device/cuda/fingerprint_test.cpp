// What a GPU is taken for: its facts out of a driver of the test's own, the SKU that they resolve
// to, and its roofline.
#include "engine/device/cuda/fingerprint.h"

#include <gtest/gtest.h>

#include <cstring>
#include <map>

#include "engine/device/cuda/gpu_specs.h"

namespace enginery {
namespace {

CardStructure h200() {
  CardStructure card;
  card.compute_capability = 90;
  card.sm_count = 132;
  card.memory_mib = 143771;
  card.pci_device_id = 0x2335;
  card.name = "NVIDIA H200";
  card.pci_bus = "0000:19:00.0";
  card.l2_kib = 61440;
  card.clock_mhz = 1980;
  card.memory_clock_mhz = 3201;
  card.bus_bits = 6144;
  return card;
}

TEST(ResolveSku, GoesByThePciIdFirst) {
  EXPECT_EQ(resolve_sku(h200()), "h200");
  CardStructure card = h200();
  card.memory_mib = 70000;
  EXPECT_EQ(resolve_sku(card), "h200") << "whatever its memory";
  card.pci_device_id = 0x2330;
  EXPECT_EQ(resolve_sku(card), "h100-sxm");
}

TEST(ResolveSku, GoesByMemoryWhereThePciIdIsNotKnown) {
  CardStructure card = h200();
  card.pci_device_id = 0;
  EXPECT_EQ(resolve_sku(card), "h200");
  card.memory_mib = 81559;
  EXPECT_EQ(resolve_sku(card), "h100-sxm");
  card.memory_mib = 110 * 1024;
  EXPECT_EQ(resolve_sku(card), "cuda-sm90-132sm-110g") << "neither 80 nor 141 GiB within 12 %";
}

TEST(ResolveSku, IsStructuralForAnotherChip) {
  CardStructure card = h200();
  card.sm_count = 60;
  EXPECT_EQ(resolve_sku(card), "cuda-sm90-60sm-141g")
      << "a part of a card is not the card, though its PCI id is";
  card.memory_mib = 141 * 1024 + 1;
  EXPECT_EQ(resolve_sku(card), "cuda-sm90-60sm-142g") << "GiB are rounded up";
}

// What a structural name says is what made it: an engine's SKU opens the card that it was built
// for.
TEST(ResolveSku, GivesStructuralNamesThatReadBack) {
  CardStructure card = h200();
  card.sm_count = 60;
  const auto row = resolve_sku_name(resolve_sku(card));
  ASSERT_TRUE(row);
  EXPECT_EQ(row->compute_capability, 90);
  EXPECT_EQ(row->sm_count, 60);
  EXPECT_EQ(row->memory_gib, 141);
  EXPECT_EQ(row->kind, DeviceKind::cuda);
}

TEST(DeviceInfoOfACard, HasItsRooflineFromClocksAndWidths) {
  const DeviceInfo info = device_info(h200());
  EXPECT_EQ(info.physical_id, "gpu-0000:19:00.0");
  EXPECT_EQ(info.memory_bytes, int64_t{143771} << 20);
  EXPECT_EQ(info.cache_bytes, int64_t{60} << 20);
  EXPECT_DOUBLE_EQ(info.bytes_per_second, 2 * 3201e6 * 6144 / 8);
  EXPECT_DOUBLE_EQ(info.float32_flops, 1980e6 * 132 * 256);
  EXPECT_DOUBLE_EQ(info.tf32_flops, 1980e6 * 132 * 2048);
  EXPECT_DOUBLE_EQ(info.float16_flops, 1980e6 * 132 * 4096);
  EXPECT_FALSE(info.shares_host_memory());
}

// Timing keys hold these names and this order.
TEST(DeviceInfoOfACard, HasTheFactsOfTheTimingKeyInTheirOrder) {
  std::vector<std::string> names;
  std::map<std::string, std::string> facts;
  for (const auto& [name, value] : device_info(h200()).hardware) {
    names.push_back(name);
    facts[name] = value;
  }
  EXPECT_EQ(names,
            (std::vector<std::string>{"name", "pci_id", "compute_capability", "units", "memory_mib",
                                      "l2_kib", "clock_mhz", "memory_clock_mhz", "ecc", "mig",
                                      "power_limit_w", "application_clock_mhz"}));
  EXPECT_EQ(facts["pci_id"], "2335");
  EXPECT_EQ(facts["ecc"], "no");
  CardStructure orin = h200();
  orin.pci_device_id = 0;
  EXPECT_EQ(device_info(orin).hardware[1].second, "none");
}

TEST(DeviceInfoOfASku, IsThatOfItsDataSheet) {
  for (const SkuRow& row : sku_table()) {
    if (row.kind != DeviceKind::cuda) continue;
    const DeviceInfo info = device_info(row);
    EXPECT_EQ(info.sku, row.name);
    EXPECT_EQ(info.physical_id, "none") << "it is not here";
    EXPECT_EQ(info.compute_units, row.sm_count) << row.name;
    EXPECT_EQ(info.memory_bytes, int64_t{row.memory_gib} << 30) << row.name;
    EXPECT_GT(info.float32_flops, 1e11) << row.name;
    EXPECT_GT(info.bytes_per_second, 5e10) << row.name;
    EXPECT_LT(info.bytes_per_second, 1e13) << row.name;
    EXPECT_GT(info.cache_bytes, 0) << row.name;
    EXPECT_EQ(info.tf32_flops > 0, row.compute_capability >= 80) << row.name;
    EXPECT_EQ(info.float16_flops > 0, row.compute_capability >= 70) << row.name;
  }
}

TEST(GpuSpecs, AreTheCardsOwnForEveryRowOfTheTable) {
  for (const SkuRow& row : sku_table()) {
    if (row.kind != DeviceKind::cuda) continue;
    SkuRow renamed = row;
    renamed.name = "unknown";
    EXPECT_EQ(gpu_specs(row).sku, row.name);
    EXPECT_EQ(gpu_specs(renamed).sku, "unknown") << "borrowed figures keep the card's name";
  }
}

TEST(GpuSpecs, OfAnUnknownCardAreThoseOfTheNearestOfItsKind) {
  SkuRow row;
  row.kind = DeviceKind::cuda;
  row.name = "cuda-sm90-120sm-96g";
  row.compute_capability = 90;
  row.sm_count = 120;
  EXPECT_EQ(gpu_specs(row).gigabytes_per_second,
            gpu_specs(*find_sku("h100-pcie")).gigabytes_per_second);
  row.compute_capability = 75;
  row.sm_count = 132;
  EXPECT_EQ(gpu_specs(row).gigabytes_per_second, 320) << "a T4's, though its SMs are fewer";
}

TEST(SmLimits, AreThoseOfTheNewestSmOfItsGenerationThatIsKnown) {
  for (int sm : {61, 70, 72, 75, 80, 86, 87, 89, 90}) {
    EXPECT_EQ(sm_limits(sm).compute_capability, sm);
    EXPECT_LE(sm_limits(sm).shared_kib_per_block, sm_limits(sm).shared_kib_per_sm) << sm;
  }
  EXPECT_EQ(sm_limits(62).compute_capability, 61);
  EXPECT_EQ(sm_limits(88).compute_capability, 87);
}

// An engine for a card of tomorrow must start there: nothing is taken for granted that one of
// today's generations lacks.
TEST(SmLimits, OfAnUnknownGenerationAreWhatEveryKnownOneHas) {
  const SmLimits tomorrow = sm_limits(120);
  for (int sm : {80, 86, 87, 89, 90}) {
    EXPECT_LE(tomorrow.shared_kib_per_block, sm_limits(sm).shared_kib_per_block) << sm;
    EXPECT_LE(tomorrow.shared_kib_per_sm, sm_limits(sm).shared_kib_per_sm) << sm;
    EXPECT_LE(tomorrow.threads_per_sm, sm_limits(sm).threads_per_sm) << sm;
    EXPECT_LE(tomorrow.float16_flops_per_clock, sm_limits(sm).float16_flops_per_clock) << sm;
  }
  EXPECT_EQ(sm_limits(50).float16_flops_per_clock, 0) << "before 7.0 there are no tensor cores";
  EXPECT_LE(sm_limits(50).shared_kib_per_block, sm_limits(61).shared_kib_per_block);
}

// A driver that shows one card, and what it was asked.
struct FakeCard {
  std::map<CUdevice_attribute, int> attributes{{CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 8},
                                               {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, 6},
                                               {CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 72},
                                               {CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, 6 << 20},
                                               {CU_DEVICE_ATTRIBUTE_CLOCK_RATE, 1695000},
                                               {CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE, 6251000},
                                               {CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH, 384},
                                               {CU_DEVICE_ATTRIBUTE_ECC_ENABLED, 1},
                                               {CU_DEVICE_ATTRIBUTE_INTEGRATED, 0}};
  int mig_status = 0;
  unsigned mig = 0;
};
FakeCard* the_card = nullptr;

Driver fake_driver() {
  Driver driver;
  driver.cuGetErrorName = [](CUresult, const char** out) {
    *out = "CUDA_ERROR_SOMETHING";
    return CUDA_SUCCESS;
  };
  driver.cuGetErrorString = [](CUresult, const char** out) {
    *out = nullptr;
    return CUDA_ERROR_INVALID_VALUE;
  };
  driver.cuDeviceGet = [](CUdevice* out, int index) {
    *out = index;
    return index == 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
  };
  driver.cuDeviceGetName = [](char* out, int size, CUdevice) {
    std::strncpy(out, "NVIDIA A10", static_cast<size_t>(size));
    return CUDA_SUCCESS;
  };
  driver.cuDeviceGetPCIBusId = [](char* out, int size, CUdevice) {
    std::strncpy(out, "FFFF:FF:1F.0", static_cast<size_t>(size));  // of no card in any machine
    return CUDA_SUCCESS;
  };
  driver.cuDeviceTotalMem_v2 = [](size_t* out, CUdevice) {
    *out = size_t{22731} << 20;
    return CUDA_SUCCESS;
  };
  driver.cuDeviceGetAttribute = [](int* out, CUdevice_attribute attribute, CUdevice) {
    const auto found = the_card->attributes.find(attribute);
    if (found == the_card->attributes.end()) return CUDA_ERROR_INVALID_VALUE;
    *out = found->second;
    return CUDA_SUCCESS;
  };
  return driver;
}

Nvml fake_nvml() {
  Nvml nvml;
  nvml.nvmlSystemGetDriverVersion = [](char* out, unsigned size) {
    std::strncpy(out, "580.1", size);
    return 0;
  };
  nvml.nvmlDeviceGetHandleByPciBusId_v2 = [](const char*, NvmlHandle* out) {
    *out = the_card;
    return 0;
  };
  nvml.nvmlDeviceGetMigMode = [](NvmlHandle, unsigned* current, unsigned* pending) {
    *current = the_card->mig;
    *pending = 1 - the_card->mig;
    return the_card->mig_status;
  };
  return nvml;
}

class ReadCard : public testing::Test {
 protected:
  void SetUp() override { the_card = &card_; }
  void TearDown() override { the_card = nullptr; }
  FakeCard card_;
  const Driver driver_ = fake_driver();
  const Nvml nvml_ = fake_nvml();
};

TEST_F(ReadCard, TurnsTheDriversUnitsIntoOurs) {
  const auto card = read_card(driver_, &nvml_, 0);
  ASSERT_TRUE(card.ok()) << card.error().message;
  EXPECT_EQ(card->compute_capability, 86);
  EXPECT_EQ(card->l2_kib, 6144);
  EXPECT_EQ(card->clock_mhz, 1695);
  EXPECT_EQ(card->memory_clock_mhz, 6251);
  EXPECT_EQ(card->memory_mib, 22731);
  EXPECT_TRUE(card->ecc);
  EXPECT_EQ(card->name, "NVIDIA A10");
  EXPECT_EQ(card->driver_text, "580.1");
  EXPECT_EQ(card->pci_device_id, 0) << "no such card in sysfs";
  EXPECT_EQ(resolve_sku(*card), "a10") << "22.2 of 24 GiB are left to the user";
}

TEST_F(ReadCard, TellsMigFromNoMigFromUnknown) {
  EXPECT_EQ(read_card(driver_, &nvml_, 0)->mig, "no");
  card_.mig = 1;
  EXPECT_EQ(read_card(driver_, &nvml_, 0)->mig, "yes");
  card_.mig_status = 3;
  EXPECT_EQ(read_card(driver_, &nvml_, 0)->mig, "unknown");
  EXPECT_EQ(read_card(driver_, nullptr, 0)->mig, "unknown");
  card_.attributes[CU_DEVICE_ATTRIBUTE_INTEGRATED] = 1;
  EXPECT_EQ(read_card(driver_, nullptr, 0)->mig, "no") << "an integrated GPU has none";
}

// Two cards of one kind that are capped differently have times of their own.
TEST_F(ReadCard, HasTheLimitsThatAnAdministratorSet) {
  EXPECT_EQ(read_card(driver_, &nvml_, 0)->power_limit_w, "unknown") << "an older NVML";
  Nvml nvml = nvml_;
  nvml.nvmlDeviceGetEnforcedPowerLimit = [](NvmlHandle, unsigned* milliwatts) {
    *milliwatts = 150'000;
    return 0;
  };
  nvml.nvmlDeviceGetApplicationsClock = [](NvmlHandle, int clock, unsigned* mhz) {
    *mhz = clock == 1 ? 885 : 0;  // that of the SMs
    return 0;
  };
  EXPECT_EQ(read_card(driver_, &nvml, 0)->power_limit_w, "150");
  EXPECT_EQ(read_card(driver_, &nvml, 0)->application_clock_mhz, "885");
  nvml.nvmlDeviceGetEnforcedPowerLimit = [](NvmlHandle, unsigned*) { return 3; };
  EXPECT_EQ(read_card(driver_, &nvml, 0)->power_limit_w, "unknown");
}

TEST_F(ReadCard, GivesTheDriversError) {
  const auto absent = read_card(driver_, &nvml_, 1);
  ASSERT_FALSE(absent.ok());
  EXPECT_NE(absent.error().message.find("cuDeviceGet"), std::string::npos);
  card_.attributes.erase(CU_DEVICE_ATTRIBUTE_CLOCK_RATE);
  EXPECT_FALSE(read_card(driver_, &nvml_, 0).ok());
}

TEST(DriverStatus, BecomesAnErrorOfItsKind) {
  const Driver driver = fake_driver();
  const std::pair<CUresult, ErrorCode> rows[] = {
      {CUDA_ERROR_OUT_OF_MEMORY, ErrorCode::out_of_memory},
      {CUDA_ERROR_NO_DEVICE, ErrorCode::unavailable},
      {CUDA_ERROR_SYSTEM_DRIVER_MISMATCH, ErrorCode::unavailable},
      {CUDA_ERROR_NO_BINARY_FOR_GPU, ErrorCode::incompatible},
      {CUDA_ERROR_UNSUPPORTED_PTX_VERSION, ErrorCode::incompatible},
      {CUDA_ERROR_INVALID_IMAGE, ErrorCode::corrupt_data},
      {CUDA_ERROR_NOT_SUPPORTED, ErrorCode::unsupported},
      {CUDA_ERROR_ILLEGAL_ADDRESS, ErrorCode::device_lost},
      {CUDA_ERROR_MISALIGNED_ADDRESS, ErrorCode::device_lost},
      {CUDA_ERROR_ASSERT, ErrorCode::device_lost},
      {CUDA_ERROR_LAUNCH_FAILED, ErrorCode::device_lost},
      {CUDA_ERROR_LAUNCH_TIMEOUT, ErrorCode::device_lost},
      {CUDA_ERROR_ECC_UNCORRECTABLE, ErrorCode::device_lost},
      {CUDA_ERROR_INVALID_VALUE, ErrorCode::internal},
      {CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, ErrorCode::internal}};
  for (const auto& [status, code] : rows) {
    const Status checked = driver.check(status, "cuSomething(x)");
    ASSERT_FALSE(checked.ok());
    EXPECT_EQ(checked.error().code, code) << status;
    EXPECT_EQ(checked.error().message, "cuSomething(x): CUDA_ERROR_SOMETHING (no description)");
  }
  EXPECT_TRUE(driver.check(CUDA_SUCCESS, "").ok());
}

TEST(NvmlVersion, IsEmptyWhereItCannotBeRead) {
  Nvml nvml = fake_nvml();
  EXPECT_EQ(nvml.driver_version(), "580.1");
  nvml.nvmlSystemGetDriverVersion = [](char* out, unsigned) {
    std::strcpy(out, "junk");
    return 9;
  };
  EXPECT_EQ(nvml.driver_version(), "");
}

}  // namespace
}  // namespace enginery
