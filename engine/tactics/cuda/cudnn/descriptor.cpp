#include "engine/tactics/cuda/cudnn/descriptor.h"

namespace enginery {

Result<CudnnDescriptor> CudnnDescriptor::create(const Cudnn& cudnn,
                                                cudnnBackendDescriptorType_t type) {
  CudnnDescriptor out;
  out.cudnn_ = &cudnn;
  CUDNN_OK(cudnn, cudnnBackendCreateDescriptor(type, &out.descriptor_));
  return out;
}

CudnnDescriptor::~CudnnDescriptor() {
  if (descriptor_) cudnn_->cudnnBackendDestroyDescriptor(descriptor_);
}

Status CudnnDescriptor::set(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type,
                            int64_t count, const void* values) {
  std::string call = "cudnnBackendSetAttribute(" + std::to_string(name) + ")";
  return cudnn_->check(cudnn_->cudnnBackendSetAttribute(descriptor_, name, type, count, values),
                       call.c_str());
}

Status CudnnDescriptor::finalize() {
  return cudnn_->check(cudnn_->cudnnBackendFinalize(descriptor_), "cudnnBackendFinalize");
}

Result<int64_t> CudnnDescriptor::read(cudnnBackendAttributeName_t name,
                                      cudnnBackendAttributeType_t type, int64_t room,
                                      void* values) const {
  int64_t count = 0;
  std::string call = "cudnnBackendGetAttribute(" + std::to_string(name) + ")";
  CHECK_OK(
      cudnn_->check(cudnn_->cudnnBackendGetAttribute(descriptor_, name, type, room, &count, values),
                    call.c_str()));
  return count;
}

Result<int64_t> CudnnDescriptor::get_int64(cudnnBackendAttributeName_t name) const {
  int64_t value = 0;
  TRY(int64_t count, read(name, CUDNN_TYPE_INT64, 1, &value));
  (void)count;
  return value;
}

Result<std::vector<CudnnDescriptor>> CudnnDescriptor::read_descriptors(
    cudnnBackendAttributeName_t name, cudnnBackendDescriptorType_t type, int64_t most) const {
  std::vector<CudnnDescriptor> out;
  std::vector<cudnnBackendDescriptor_t> raw;
  for (int64_t i = 0; i < most; ++i) {
    TRY(CudnnDescriptor descriptor, create(*cudnn_, type));
    raw.push_back(descriptor.get());
    out.push_back(std::move(descriptor));
  }
  TRY(int64_t count, read(name, CUDNN_TYPE_BACKEND_DESCRIPTOR, most, raw.data()));
  out.resize(static_cast<size_t>(std::min(count, most)));
  return out;
}

}  // namespace enginery
