// A test hook (tactics/cuda_kernel/fault.cpp): writes to an address that is nobody's, which ends
// the context of its process.

extern "C" __global__ void kernel(const FaultArgs a) {
  *reinterpret_cast<volatile int*>(a.address) = static_cast<int>(threadIdx.x);
}
