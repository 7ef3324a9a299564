// Edits of an ONNX model that know its structure; the bytes alone are damaged now and then.
#pragma once

#include "tests/fuzz/edits.h"

namespace enginery::test {

// One to four edits of fields anywhere in the model, found by walking the message: a number, a
// text, an element left out, repeated or moved. Where `model` is no message, its bytes are damaged.
Bytes edited_model(const Bytes& model, Random& random);

}  // namespace enginery::test
