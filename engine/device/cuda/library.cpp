#include "engine/device/cuda/library.h"

#include <dlfcn.h>

#include <cstdlib>
#include <filesystem>

namespace enginery {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> split_colons(const char* text) {
  std::vector<std::string> parts;
  std::string part;
  for (const char* c = text ? text : ""; *c; ++c) {
    if (*c != ':') {
      part += *c;
      continue;
    }
    if (!part.empty()) parts.push_back(part);
    part.clear();
  }
  if (!part.empty()) parts.push_back(part);
  return parts;
}

// <prefix>/lib/python3.*/site-packages/nvidia/*/lib
void add_wheel_folders(const fs::path& prefix, std::vector<std::string>& out) {
  std::error_code ignored;
  for (const auto& python : fs::directory_iterator(prefix / "lib", ignored)) {
    if (python.path().filename().string().rfind("python3", 0) != 0) continue;
    for (const auto& wheel :
         fs::directory_iterator(python.path() / "site-packages" / "nvidia", ignored)) {
      fs::path lib = wheel.path() / "lib";
      if (fs::is_directory(lib, ignored)) out.push_back(lib.string());
    }
  }
}

}  // namespace

std::vector<std::string> library_folders() {
  std::vector<std::string> folders = split_colons(std::getenv("ENGINERY_CUDA_LIBRARIES"));
  if (const char* home = std::getenv("CUDA_HOME")) folders.push_back(std::string(home) + "/lib64");
  for (const char* folder :
       {"/usr/local/cuda/lib64", "/usr/local/cuda/lib", "/usr/local/cuda/targets/x86_64-linux/lib",
        "/usr/local/nvidia/lib64", "/usr/local/nvidia/lib", "/usr/lib/wsl/lib"}) {
    folders.push_back(folder);
  }
  if (const char* env = std::getenv("VIRTUAL_ENV")) add_wheel_folders(env, folders);
  std::error_code ignored;
  for (const std::string& bin : split_colons(std::getenv("PATH"))) {
    fs::path python = fs::path(bin) / "python3";
    if (!fs::exists(python, ignored)) continue;
    add_wheel_folders(fs::path(bin).parent_path(), folders);
    break;
  }
  return folders;
}

Result<SharedLibrary> SharedLibrary::open(const std::vector<std::string>& names) {
  std::string reason, tried;
  for (const std::string& name : names) {
    std::vector<std::string> paths{name};
    for (const std::string& folder : library_folders()) {
      std::error_code ignored;
      std::string path = folder + "/" + name;
      if (fs::exists(path, ignored)) paths.push_back(path);
    }
    for (const std::string& path : paths) {
      SharedLibrary library;
      library.handle_ = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
      library.path_ = path;
      if (library.handle_) return library;
      if (const char* why = dlerror(); why && (reason.empty() || path != name)) reason = why;
    }
    tried += (tried.empty() ? "" : ", ") + name;
  }
  return Error{ErrorCode::unavailable, "open " + tried + ": " + reason};
}

Result<void*> SharedLibrary::symbol(const char* name) const {
  if (void* address = dlsym(handle_, name)) return address;
  return Error{ErrorCode::unavailable,
               path_ + " has no " + name + ": it is older than what enginery needs"};
}

}  // namespace enginery
