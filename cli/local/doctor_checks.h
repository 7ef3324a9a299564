// What `doctor` looks at: one row and one function for each thing.
//
// Where: the verb prints the findings in the order of the list. Each check only looks, apart from
// the two folders, which are made where they are missing. Threads: free functions; one at a time.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace enginery {

enum class Health { ok, warn };

// What was found about one thing.
struct Finding {
  std::string subject;
  Health health = Health::ok;
  std::string detail;
  std::string fix;  // the command that repairs it; "" where nothing has to be done
};

// One row of the list.
struct DoctorCheck {
  std::string_view name;
  std::vector<Finding> (*look)();
};

std::span<const DoctorCheck> doctor_checks();

// Whether the folder exists or can be made, is writable, and has room for engines.
Finding check_folder(const std::string& subject, const std::filesystem::path& folder);

// Whether GPU code was compiled in: not where CUDA's headers were missing.
bool has_cuda_headers();

}  // namespace enginery
