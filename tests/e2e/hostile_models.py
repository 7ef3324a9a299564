"""Small ONNX files that ask for much: memory, work or time that grows faster than the file. Each function returns a file's bytes."""
from support import *


def filled(name, sizes, value):
    """A constant of `sizes`, which names an int64 tensor of the model, in a few bytes."""
    return node("ConstantOfShape", [sizes], [name], value=tensor("v", [1], [float(value)]))


def scalar_plus(nodes, weights, addend):
    """x[1] plus the one element of `addend`."""
    return model([*nodes, node("Add", ["x", addend], ["y"])], [value_info("x", [1])], [value_info("y", [1])], weights)


def sum_of_constants(count=30, side=4096):
    """[fold] 64 MiB each, of which one number is left."""
    names = [f"c{i}" for i in range(count)]
    nodes = [filled(name, "s", i) for i, name in enumerate(names)]
    nodes += [node("Sum", names, ["t"]), node("ReduceSum", ["t"], ["u"], keepdims=0)]
    return scalar_plus(nodes, [int_tensor("s", [2], [side, side])], "u")


def constants_that_are_kept(count=30, side=4096):
    """[fold] Nothing makes them small: each is an operand of the network."""
    nodes, x = [], "x"
    for i in range(count):
        nodes += [filled(f"c{i}", "s", i), node("Mul", [x, f"c{i}"], [f"m{i}"]), node("ReduceMax", [f"m{i}"], [f"r{i}"], keepdims=0)]
        x = f"r{i}"
    nodes.append(node("Add", [x, "x"], ["y"]))
    return model(nodes, [value_info("x", [1])], [value_info("y", [1])], [int_tensor("s", [2], [side, side])])


def dead_constants(count=500, side=4096):
    """[fold] No output needs them."""
    nodes = [filled(f"c{i}", "s", i) for i in range(count)]
    return model([*nodes, node("Relu", ["x"], ["y"])], [value_info("x", [1])], [value_info("y", [1])], [int_tensor("s", [2], [side, side])])


def products_of_constants(count=3, side=2000):
    """[matmul] 16 GFLOP each at 2000."""
    nodes, last = [], None
    for i in range(count):
        nodes += [filled(f"a{i}", "s", i), filled(f"b{i}", "s", 1), node("MatMul", [f"a{i}", f"b{i}"], [f"m{i}"]),
                  node("ReduceSum", [f"m{i}"], [f"q{i}"], keepdims=0)]
        nodes += [node("Add", [last, f"q{i}"], [f"p{i}"])] if last else []
        last = f"p{i}" if last else f"q{i}"
    return scalar_plus(nodes, [int_tensor("s", [2], [side, side])], last)


def many_dimensions(rank=65536):
    """[rank] A Reshape to `rank` dimensions of one element."""
    ones = node("ConstantOfShape", ["n"], ["d"], value=field(1, [1]) + field(2, 7) + field(8, "v") + field(9, struct.pack("<q", 1)))
    nodes = [ones, node("Reshape", ["x", "d"], ["r"]), node("Relu", ["r"], ["y"])]
    return model(nodes, [value_info("x", [1])], [value_info("y", [])], [int_tensor("n", [1], [rank])])


def wide_expand(side=65536):
    """[expand] 16 GiB of one number."""
    nodes = [node("Expand", ["x", "s"], ["e"]), node("ReduceSum", ["e"], ["y"], keepdims=0)]
    return model(nodes, [value_info("x", [1])], [value_info("y", [])], [int_tensor("s", [2], [side, side])])


def vector_model(nodes, weights=(), output="y"):
    return model(nodes, [value_info("x", [4])], [value_info(output, [4])], weights)


def chain(count, kinds=("Tanh", "Relu")):
    """[chain] One layer after the other; nothing can be fused away."""
    nodes, x = [], "x"
    for i in range(count):
        nodes.append(node(kinds[i % len(kinds)], [x], [f"v{i}"]))
        x = f"v{i}"
    return vector_model(nodes, output=x)


def identities(count):
    """[chain] Nothing is left but the last node."""
    nodes, x = [], "x"
    for i in range(count):
        nodes.append(node("Identity", [x], [f"v{i}"]))
        x = f"v{i}"
    return vector_model([*nodes, node("Relu", [x], ["y"])])


def fan(count):
    """[chain] Equal nodes that one sum reads: all merge into one."""
    names = [f"r{i}" for i in range(count)]
    return vector_model([*(node("Relu", ["x"], [name]) for name in names), node("Sum", names, ["y"])])


def residuals(count):
    """[chain] Every node reads the input, too, which so lives to the end."""
    nodes, x = [], "x"
    for i in range(count):
        nodes.append(node("Add" if i % 2 else "Mul", [x, "x"], [f"v{i}"]))
        x = f"v{i}"
    return vector_model(nodes, output=x)


def backwards(count):
    """[chain] A chain whose nodes stand in the file last first."""
    nodes = [node("Tanh" if i % 2 else "Relu", [f"v{i - 1}" if i else "x"], [f"v{i}"]) for i in range(count)]
    return vector_model(nodes[::-1], output=f"v{count - 1}")


def small_constants(count):
    """[fold] A chain of constants that ends in the network."""
    nodes, c = [], "c"
    for i in range(count):
        nodes.append(node("Add", [c, "c"], [f"v{i}"]))
        c = f"v{i}"
    return vector_model([*nodes, node("Add", ["x", c], ["y"])], [tensor("c", [4], [1, 2, 3, 4])])


def weighted(count):
    """[chain] Every layer has a weight of its own."""
    nodes, weights, x = [], [], "x"
    for i in range(count):
        weights.append(tensor(f"w{i}", [4], [1 + i / count, -1, 1, 0.5]))
        nodes.append(node("Tanh" if i % 2 else "Mul", [x] if i % 2 else [x, f"w{i}"], [f"v{i}"]))
        x = f"v{i}"
    return vector_model(nodes, weights, x)


def wide(count):
    """[chain] As many values alive at a time as there are nodes."""
    weights = [tensor(f"w{i}", [4], [1 + i / count, -1, 1, 0.5]) for i in range(count)]
    names = [f"v{i}" for i in range(count)]
    nodes = [node("Mul", ["x", f"w{i}"], [names[i]]) for i in range(count)]
    return vector_model([*nodes, node("Sum", names, ["y"])], weights)
