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

// What passes look for in a transformer, in the pieces that exporters write.
ModelBuilder transformer_block() {
  ModelBuilder m(17);
  m.input("x", {1, 6, 8}).output("y").weights("w", {8, 8}, std::vector<float>(64, 0.25f));
  m.weights("v", {8, 8}, std::vector<float>(64, 0.5f)).weights("b", {8}, std::vector<float>(8, 1));
  m.weights("two", {}, {2}).weights("one", {}, {1}).weights("half", {}, {0.5f});
  m.weights("mask", {1, 1, 6, 6}, std::vector<float>(36, 0)).weights("tiny", {}, {1e-5f});
  m.ints("heads", {1, 6, 2, 4}).ints("whole", {1, 6, 8}).ints("last", {-1});
  m.node("ReduceMean", {"x"}, {"mean"}, {{"axes", Ints{-1}}}).node("Sub", {"x", "mean"}, {"d"});
  m.node("Pow", {"d", "two"}, {"dd"}).node("ReduceMean", {"dd"}, {"var"}, {{"axes", Ints{-1}}});
  m.node("Add", {"var", "tiny"}, {"vt"}).node("Sqrt", {"vt"}, {"dev"});
  m.node("Div", {"d", "dev"}, {"n"})
      .node("Mul", {"n", "b"}, {"nb"})
      .node("Add", {"nb", "b"}, {"l"});
  for (const std::string name : {"q", "k", "u"}) {
    m.node("MatMul", {"l", name == "q" ? "w" : "v"}, {name + "0"});
    m.node("Add", {name + "0", "b"}, {name + "1"})
        .node("Reshape", {name + "1", "heads"}, {name + "2"});
    m.node("Transpose", {name + "2"}, {name}, {{"perm", Ints{0, 2, 1, 3}}});
  }
  m.node("Transpose", {"k"}, {"kt"}, {{"perm", Ints{0, 1, 3, 2}}})
      .node("MatMul", {"q", "kt"}, {"s"});
  m.node("Div", {"s", "two"}, {"scaled"}).node("Add", {"scaled", "mask"}, {"masked"});
  m.node("Softmax", {"masked"}, {"p"}, {{"axis", -1}}).node("MatMul", {"p", "u"}, {"a"});
  m.node("Transpose", {"a"}, {"at"}, {{"perm", Ints{0, 2, 1, 3}}});
  m.node("Reshape", {"at", "whole"}, {"joined"}).node("Add", {"joined", "x"}, {"r"});
  m.node("Einsum", {"r", "w"}, {"h"}, {{"equation", "...i,ij->...j"}});
  m.node("Div", {"h", "two"}, {"g0"})
      .node("Erf", {"g0"}, {"g1"})
      .node("Add", {"g1", "one"}, {"g2"});
  m.node("Mul", {"h", "g2"}, {"g3"}).node("Mul", {"g3", "half"}, {"gelu"});
  m.node("Sigmoid", {"gelu"}, {"gate"}).node("Mul", {"gelu", "gate"}, {"y"});
  return m;
}

// Likewise in a convolution network: pads, normalisation, joins, products of the mean.
ModelBuilder convolution_block() {
  ModelBuilder m(13);
  m.input("x", {1, 4, 7, 7}).output("y").weights("w", {4, 4, 3, 3}, std::vector<float>(144, 0.1f));
  m.weights("v", {6, 4, 1, 1}, std::vector<float>(24, 0.2f)).weights("c", {4}, {1, 2, 3, 4});
  m.weights("f", {10, 5}, std::vector<float>(50, 0.3f)).weights("scale", {}, {0.5f});
  m.ints("pads", {0, 0, 1, 1, 0, 0, 1, 1}).ints("from", {0}).ints("to", {4}).ints("axis", {1});
  m.node("Pad", {"x", "pads"}, {"p"}).node("Conv", {"p", "w", "c"}, {"k"});
  m.node("BatchNormalization", {"k", "c", "c", "c", "c"}, {"n"}).node("Relu", {"n"}, {"r"});
  m.node("Conv", {"r", "v"}, {"e"})
      .node("HardSigmoid", {"e"}, {"hs"})
      .node("Mul", {"e", "hs"}, {"h"});
  m.node("Conv", {"r", "w"}, {"d"}, {{"pads", Ints{1, 1, 1, 1}}, {"group", 1}});
  m.node("Add", {"d", "x"}, {"sum"}).node("Concat", {"h", "sum"}, {"j"}, {{"axis", 1}});
  m.node("Concat", {"j", "r"}, {"jj"}, {{"axis", 1}})
      .node("Split", {"jj"}, {"s", "t"}, {{"axis", 1}});
  m.node("Concat", {"t", "s"}, {"turned"}, {{"axis", 1}});
  m.node("Slice", {"turned", "from", "to", "axis"}, {"cut"});
  m.node("MaxPool", {"cut"}, {"mp"}, {{"kernel_shape", Ints{2, 2}}, {"strides", Ints{2, 2}}});
  m.node("Conv", {"mp", "v"}, {"z"}).node("Concat", {"z", "mp"}, {"last"}, {{"axis", 1}});
  m.node("GlobalAveragePool", {"last"}, {"ga"}).node("Flatten", {"ga"}, {"flat"});
  m.node("QuantizeLinear", {"flat", "scale"}, {"q"})
      .node("DequantizeLinear", {"q", "scale"}, {"dq"});
  m.node("Gemm", {"dq", "f"}, {"g"}).node("Tanh", {"g"}, {"y"});
  return m;
}

}  // namespace

std::vector<Bytes> seed_models() {
  return {small_convolution().bytes(), pooling().bytes(),          shape_arithmetic().bytes(),
          generators().bytes(),        told_sizes().bytes(),       found_rows().bytes(),
          transformer_block().bytes(), convolution_block().bytes()};
}

}  // namespace enginery::test
