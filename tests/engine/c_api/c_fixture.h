// A compiled engine loaded through the C interface: what these tests share.
#pragma once

#include "tests/engine/c_api/c_loaded.h"
#include "tests/engine/runtime/signed_engine.h"

namespace enginery::test {

class CInterface : public CLoaded {
 protected:
  static void SetUpTestSuite() { file_ = std::make_unique<SignedEngine>(kTwoLayers); }
};

}  // namespace enginery::test
