#include "tests/engine/import/seed_models.h"

#include "tests/engine/import/model_builder.h"

namespace enginery::test {
namespace {

using Ints = std::vector<int64_t>;

ModelBuilder pooling() {
  ModelBuilder m;
  m.input("x", {"N", 2, 6, 6}).output("y").weights("s", {2}, {1, 2}).weights("t", {2}, {0, 1});
  m.node("BatchNormalization", {"x", "s", "t", "t", "s"}, {"b"}, {{"epsilon", 1e-3f}});
  m.node("MaxPool", {"b"}, {"p"},
         {{"kernel_shape", Ints{3, 3}}, {"strides", Ints{2, 2}}, {"ceil_mode", 1}});
  m.node("AveragePool", {"p"}, {"q"}, {{"kernel_shape", Ints{2, 2}}, {"auto_pad", "SAME_UPPER"}});
  m.node("LRN", {"q"}, {"l"}, {{"size", 3}})
      .node("GlobalAveragePool", {"l"}, {"g"})
      .node("Flatten", {"g"}, {"f"});
  m.node("Softmax", {"f"}, {"y"}, {{"axis", 1}});
  return m;
}

ModelBuilder shape_arithmetic() {
  ModelBuilder m(11);
  m.input("x", {2, 3, 4})
      .output("y")
      .output("z")
      .ints("i", {0})
      .ints("m", {-1})
      .ints("axes", {1})
      .ints("from", {0})
      .ints("to", {2});
  m.node("Shape", {"x"}, {"s"})
      .node("Gather", {"s", "i"}, {"n"})
      .node("Concat", {"n", "m"}, {"d"}, {{"axis", 0}});
  m.node("Reshape", {"x", "d"}, {"r"})
      .node("Transpose", {"r"}, {"t"})
      .node("Slice", {"t", "from", "to", "i"}, {"y"});
  m.node("Unsqueeze", {"x"}, {"u"}, {{"axes", Ints{0}}})
      .node("Split", {"u"}, {"a", "b"}, {{"axis", 1}});
  m.node("Sum", {"a", "b"}, {"c"})
      .node("ReduceMean", {"c"}, {"e"}, {{"axes", Ints{2}}})
      .node("Squeeze", {"e"}, {"z"});
  return m;
}

ModelBuilder generators() {
  ModelBuilder m;
  m.input("x", {1, 2, 4, 4})
      .output("y")
      .ints("shape", {2, 2})
      .ints("pads", {0, 0, 1, 1, 0, 0, 1, 1})
      .ints("k", {1});
  m.weights("scales", {4}, {1, 1, 2, 2})
      .weights("w", {2, 2, 2, 2}, std::vector<float>(16, 0.5f))
      .weights("v", {2}, {0, 1});
  m.node("Pad", {"x", "pads"}, {"p"})
      .node("ConvTranspose", {"p", "w"}, {"d"}, {{"strides", Ints{2, 2}}});
  m.node("Resize", {"d", "", "scales"}, {"r"}, {{"mode", "linear"}})
      .node("Clip", {"r"}, {"c"})
      .node("HardSigmoid", {"c"}, {"h"});
  m.node("ConstantOfShape", {"shape"}, {"o"})
      .node("Gemm", {"o", "o"}, {"g"}, {{"transA", 1}})
      .node("MatMul", {"g", "o"}, {"mm"});
  m.node("ReduceSum", {"mm"}, {"s"}, {{"keepdims", 0}})
      .node("Mul", {"h", "s"}, {"q"})
      .node("ArgMax", {"q"}, {"am"}, {{"axis", 3}});
  m.node("OneHot", {"am", "k", "v"}, {"oh"}).node("Trilu", {"oh"}, {"y"});
  return m;
}

// What runs tell: the sizes of a split, and how many elements are found.
ModelBuilder told_sizes() {
  ModelBuilder m(16);
  m.input("x", {6}).output("y").output("z").weights("zero", {}, {0}).ints("six", {6});
  m.node("Greater", {"x", "zero"}, {"flags"}).node("Cast", {"flags"}, {"ones"}, {{"to", kInt64}});
  m.node("ReduceSum", {"ones"}, {"first"}).node("Sub", {"six", "first"}, {"second"});
  m.node("Concat", {"first", "second"}, {"sizes"}, {{"axis", 0}});
  m.node("Split", {"x", "sizes"}, {"p", "q"}, {{"axis", 0}}).node("Neg", {"p"}, {"r"});
  m.node("Concat", {"r", "q"}, {"y"}, {{"axis", 0}});
  m.node("NonZero", {"flags"}, {"found"}).node("Transpose", {"found"}, {"at"});
  m.node("GatherND", {"x", "at"}, {"g"});
  m.node("ScatterND", {"x", "at", "g"}, {"z"}, {{"reduction", "add"}});
  return m;
}

// Rules of operators that read what a run finds.
ModelBuilder found_rows() {
  ModelBuilder m(17);
  m.input("x", {5, 4}).output("y").output("z").weights("zero", {}, {0}).ints("last", {-1});
  m.ints("k", {2}).ints("from", {0}).ints("to", {3}).ints("axis", {0}).ints("twice", {1, 2});
  m.node("ReduceSum", {"x", "last"}, {"sums"}, {{"keepdims", 0}});
  m.node("Greater", {"sums", "zero"}, {"flags"}).node("NonZero", {"flags"}, {"found"});
  m.node("Reshape", {"found", "last"}, {"at"}).node("Gather", {"x", "at"}, {"rows"});
  m.node("Concat", {"rows", "x"}, {"both"}, {{"axis", 0}});
  m.node("Slice", {"both", "from", "to", "axis"}, {"cut"});
  m.node("CumSum", {"cut", "axis"}, {"ran"}).node("Softmax", {"ran"}, {"soft"}, {{"axis", 0}});
  m.node("Tile", {"soft", "twice"}, {"tiled"}).node("ReduceMean", {"tiled"}, {"y"});
  m.node("Shape", {"rows"}, {"shape"}).node("ConstantOfShape", {"shape"}, {"blank"});
  m.node("Expand", {"zero", "shape"}, {"spread"}).node("Add", {"blank", "spread"}, {"sum"});
  m.node("MatMul", {"sum", "weights"}, {"product"})
      .weights("weights", {4, 3}, std::vector<float>(12, 1));
  m.node("TopK", {"product", "k"}, {"z", "places"}, {{"axis", 0}});
  return m;
}

}  // namespace

std::vector<Bytes> seed_models() {
  return {small_convolution().bytes(), pooling().bytes(),    shape_arithmetic().bytes(),
          generators().bytes(),        told_sizes().bytes(), found_rows().bytes()};
}

}  // namespace enginery::test
